import Foundation

/// The amount of torture.
///
/// The default fits beside other suites on a small machine; with `MILLPOND_TORTURE` set, as in
/// `.ci/thorough`, it is complete.
enum Torture {
  private static let isWhole = ProcessInfo.processInfo.environment["MILLPOND_TORTURE"] != nil

  /// Returns the step from one call that fails to the next.
  static func stride(_ few: Int) -> Int {
    isWhole ? 1 : few
  }

  /// Returns the number of rounds.
  static func rounds(_ all: Int, few: Int) -> Int {
    isWhole ? all : few
  }
}
