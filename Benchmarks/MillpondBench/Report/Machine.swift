import Foundation

/// The machine on which a page was made.
struct Machine {
  let system: String

  /// The name of the processor; nil if the system does not tell it.
  let processor: String?
  let coreCount: Int
  let memoryByteCount: UInt64

  /// The number of processes that wanted a processor in the last minute; nil if the system does not
  /// tell it.
  let load: Double?

  /// Returns this machine as it is now.
  static func current() -> Machine {
    let process = ProcessInfo.processInfo
    var loads = [Double](repeating: 0, count: 3)
    return Machine(
      system: process.operatingSystemVersionString, processor: SystemReport.processorName,
      coreCount: process.activeProcessorCount, memoryByteCount: process.physicalMemory,
      load: getloadavg(&loads, 3) > 0 ? loads[0] : nil)
  }

  /// The facts with their names.
  var facts: [(name: String, value: String)] {
    let memory = Double(memoryByteCount) / 1_073_741_824
    return [
      ("Processor", "\(processor ?? "unknown"), \(coreCount) cores"),
      ("Memory", String(format: "%.1f GiB", memory)), ("System", system),
      ("Load at the start", load.map { String(format: "%.2f", $0) } ?? "unknown"),
    ]
  }
}
