import Foundation

/// The greatest use of memory of this process.
///
/// For use in an exit test, where nothing else runs in the process.
enum Memory {
  /// The peak in bytes; it never falls.
  static var peak: Int {
    var usage = rusage()
    _ = getrusage(0, &usage)  // RUSAGE_SELF, which is not of one type on all platforms
    #if os(Linux)
      return usage.ru_maxrss * 1_024
    #else
      return usage.ru_maxrss
    #endif
  }

  /// Returns the rise of the peak while `step` is repeated, after enough repetitions to settle.
  ///
  /// A million repetitions; a quarter of them in an unoptimised build, where they would take
  /// seconds.
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
