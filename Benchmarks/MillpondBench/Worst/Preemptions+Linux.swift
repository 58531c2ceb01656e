#if os(Linux)
  import Foundation

  /// `RUSAGE_THREAD`, which Glibc does not export to Swift.
  private let rusageOfThread: Int32 = 1

  /// Returns the number of this thread's preemptions.
  func preemptionsOfThread() -> Int {
    var usage = rusage()
    getrusage(rusageOfThread, &usage)
    return usage.ru_nivcsw
  }
#endif
