#if os(Linux)
  import Foundation

  /// How much memory the process has; nil where the system doesn't tell.
  func residentBytes() -> Int? {
    statusBytes("VmRSS:")
  }

  /// The most that it has had since ``forgetPeak()``.
  func peakBytes() -> Int? {
    statusBytes("VmHWM:")
  }

  /// From now on the peak is another one.
  func forgetPeak() {
    let file = FileHandle(forWritingAtPath: "/proc/self/clear_refs")
    try? file?.write(contentsOf: Data("5".utf8))
  }

  /// Gives what is free back to the system: what others have left would hide growth.
  ///
  /// By what Swift doesn't import of glibc; another C library may not have it.
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
