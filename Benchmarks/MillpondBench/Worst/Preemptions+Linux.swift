#if os(Linux)
  import Foundation

  /// `RUSAGE_THREAD`, which Glibc does not export to Swift.
  private let rusageOfThread: Int32 = 1

  /// How often this thread had to leave the processor to others.
  func preemptionsOfThread() -> Int {
    var usage = rusage()
    getrusage(rusageOfThread, &usage)
    return usage.ru_nivcsw
  }
#endif
