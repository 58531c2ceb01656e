#if os(Linux)
  import Foundation

  /// How much memory the process has; nil where the system doesn't tell.
  func residentBytes() -> Int? {
    guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else {
      return nil
    }
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    return pages.map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) }
  }
#endif
