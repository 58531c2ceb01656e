import Foundation

/// Bytes and times for people to read: about three digits and a unit.
enum Amounts {
  /// Returns a number of bytes, such as `640 B`, `45.2 kB` or `1.3 MB`.
  static func bytes(_ count: Int) -> String {
    switch count {
    case ..<1_000: "\(count) B"
    case ..<999_950: String(format: "%.1f kB", Double(count) / 1e3)
    default: String(format: "%.1f MB", Double(count) / 1e6)
    }
  }

  /// Returns a time, such as `640 ns`, `12.5 µs`, `210 ms` or `1.25 s`.
  static func time(_ duration: Duration, _ screen: Screen) -> String {
    let seconds = duration / .seconds(1)
    return switch seconds {
    case ..<0.000_000_999_5: String(format: "%.0f ns", seconds * 1e9)
    case ..<0.000_999_95: String(format: "%.1f ", seconds * 1e6) + (screen.hasUnicode ? "µs" : "us")
    case ..<0.099_95: String(format: "%.1f ms", seconds * 1e3)
    case ..<0.999_5: String(format: "%.0f ms", seconds * 1e3)
    default: String(format: "%.2f s", seconds)
    }
  }
}
