/// Bytes and times for people to read: about three digits and a unit.
enum Amounts {
  /// Returns a number of bytes, such as `640 B`, `45.2 kB` or `1.3 MB`.
  static func bytes(_ count: Int) -> String {
    switch count {
    case ..<1_000: "\(max(0, count)) B"
    case ..<999_950: number(Double(count) / 1e3, decimals: 1) + " kB"
    case ..<999_950_000: number(Double(count) / 1e6, decimals: 1) + " MB"
    default: number(Double(count) / 1e9, decimals: 1) + " GB"
    }
  }

  /// Returns a time, such as `640 ns`, `12.5 µs`, `210 ms` or `1.25 s`.
  static func time(_ duration: Duration, _ glyphs: Glyphs) -> String {
    let seconds = max(0, duration / .seconds(1))
    return switch seconds {
    case ..<0.000_000_999_5: number(seconds * 1e9, decimals: 0) + " ns"
    case ..<0.000_999_95: number(seconds * 1e6, decimals: 1) + " \(glyphs.micro)s"
    case ..<0.099_95: number(seconds * 1e3, decimals: 1) + " ms"
    case ..<0.999_5: number(seconds * 1e3, decimals: 0) + " ms"
    default: number(seconds, decimals: 2) + " s"
    }
  }

  private static func number(_ value: Double, decimals: Int) -> String {
    let scale = (0..<decimals).reduce(1) { result, _ in result * 10 }
    let parts = Int((value * Double(scale)).rounded())
    guard decimals > 0 else { return "\(parts)" }
    let digits = String(parts % scale)
    return "\(parts / scale)." + String(repeating: "0", count: decimals - digits.count) + digits
  }
}
