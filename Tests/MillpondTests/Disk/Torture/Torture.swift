import Foundation

/// How much of the torture there is.
///
/// By default as much as other suites can stand beside it on a small machine; with `MILLPOND_TORTURE`
/// set, as `.ci/run` does it in a step of its own, all of it.
enum Torture {
  private static let isWhole = ProcessInfo.processInfo.environment["MILLPOND_TORTURE"] != nil

  /// The step from one call that fails to the next.
  static func stride(_ few: Int) -> Int {
    isWhole ? 1 : few
  }

  /// How many rounds there are.
  static func rounds(_ all: Int, few: Int) -> Int {
    isWhole ? all : few
  }
}
