import Foundation

/// How much memory this process has had in use at most.
///
/// To be asked in an exit test: there nothing else runs in the process.
enum Memory {
  /// In bytes; it never falls.
  static var peak: Int {
    var usage = rusage()
    _ = getrusage(0, &usage)  // RUSAGE_SELF, which is not of one type on all platforms
    #if os(Linux)
      return usage.ru_maxrss * 1_024
    #else
      return usage.ru_maxrss
    #endif
  }

  /// By how much the peak rises while `step` is done many times, after enough of them to settle.
  ///
  /// A million times; a quarter of that where it would take seconds, in an unoptimised build.
  static func rise(_ step: (Int) -> Void) -> Int {
    for number in 0..<50_000 { step(number) }
    let before = peak
    for number in 0..<count { step(number) }
    return peak - before
  }

  #if DEBUG
    private static let count = 250_000
  #else
    private static let count = 1_000_000
  #endif
}
