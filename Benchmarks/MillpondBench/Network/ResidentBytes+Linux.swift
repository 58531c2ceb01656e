#if os(Linux)
  import Foundation
  import Glibc

  /// How much memory the process has; nil where the system doesn't tell.
  func residentBytes() -> Int? {
    statusBytes("VmRSS:")
  }

  /// The most that it has had since ``forgetPeak()``.
  func peakBytes() -> Int? {
    statusBytes("VmHWM:")
  }

  /// From now on the peak is another one; what is free already goes back to the system first, or it
  /// would hide growth.
  func forgetPeak() {
    malloc_trim(0)
    let file = FileHandle(forWritingAtPath: "/proc/self/clear_refs")
    try? file?.write(contentsOf: Data("5".utf8))
  }

  private func statusBytes(_ name: String) -> Int? {
    let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = text?.split(separator: "\n").first { $0.hasPrefix(name) }
    let kilobytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first
    return kilobytes.flatMap { Int($0) }.map { $0 << 10 }
  }
#endif
