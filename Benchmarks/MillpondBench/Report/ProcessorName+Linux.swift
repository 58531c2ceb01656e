#if os(Linux)
  import Foundation

  /// Returns the name of the processor; nil if the system does not tell it.
  func processorName() -> String? {
    FileManager.default.contents(atPath: "/proc/cpuinfo")
      .flatMap { processorName(in: String(decoding: $0, as: UTF8.self)) }
  }

  /// - Parameter report: A line for each fact, after its name and a colon.
  func processorName(in report: String) -> String? {
    let line = report.split(separator: "\n").first { $0.hasPrefix("model name") }
    guard let line, let colon = line.firstIndex(of: ":") else { return nil }
    let name = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    return name.isEmpty ? nil : name
  }
#endif
