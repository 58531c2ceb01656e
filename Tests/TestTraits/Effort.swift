import Foundation

/// The amount of searching by tests that draw, stop or fail at many places.
///
/// The default fits beside other suites on a small machine; with `MILLPOND_TORTURE` set, as in
/// `.ci/thorough`, it is complete.
public enum Effort {
  private static let isWhole = ProcessInfo.processInfo.environment["MILLPOND_TORTURE"] != nil

  /// Returns the step from one place to the next that is tried.
  public static func stride(_ few: Int) -> Int {
    isWhole ? 1 : few
  }

  /// Returns the number of rounds.
  public static func rounds(_ all: Int, few: Int) -> Int {
    isWhole ? all : few
  }
}
