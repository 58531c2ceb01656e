#if os(Linux)
  import Foundation

  /// Returns the memory of the process in bytes; nil if the system does not report it.
  func residentBytes() -> Int? {
    statusBytes("VmRSS:")
  }

  /// Returns the peak since ``forgetPeak()``.
  func peakBytes() -> Int? {
    statusBytes("VmHWM:")
  }

  /// Resets the peak.
  func forgetPeak() {
    let file = FileHandle(forWritingAtPath: "/proc/self/clear_refs")
    try? file?.write(contentsOf: Data("5".utf8))
  }

  /// Gives free memory back to the system, since the remains of other rows would hide growth.
  ///
  /// The function of glibc is looked up, since Swift does not import it and other C libraries may
  /// lack it.
  func giveBackFree() {
    typealias Trim = @convention(c) (Int) -> Int32
    guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "malloc_trim") else { return }
    _ = unsafeBitCast(symbol, to: Trim.self)(0)
  }

  private func statusBytes(_ name: String) -> Int? {
    let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = text?.split(separator: "\n").first { $0.hasPrefix(name) }
    let kilobytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first
    return kilobytes.flatMap { Int($0) }.map { $0 << 10 }
  }
#endif
