import Testing

@testable import MillpondCore

@Suite struct SystemMemoryTests {
  static let machine = "MemTotal: 1000 kB\nMemAvailable: 600 kB\n"
  static let calm = "some avg10=0.00 total=0\nfull avg10=0.00 total=0\n"
  static let stalled = "some avg10=30.00 total=0\nfull avg10=20.00 total=0\n"

  private func readings(_ files: [String: String]) -> MemoryReadings {
    SystemMemory(proc: "/p", controlGroups: "/c").readings { files[$0] }
  }

  private func room(_ files: [String: String]) -> MemoryUse? {
    readings(files.merging(["/p/meminfo": Self.machine]) { first, _ in first }).room
  }

  /// Returns a group of version 2.
  private func group(
    _ folder: String, max limit: String, used: String, idleFiles: String = "0"
  ) -> [String: String] {
    [
      "\(folder)/memory.max": "\(limit)\n", "\(folder)/memory.current": "\(used)\n",
      "\(folder)/memory.stat": "anon 1\ninactive_file \(idleFiles)\nactive_file 2\n",
    ]
  }

  @Test func `the group's limit comes before the machine's memory`() {
    let files = group("/c/a", max: "1000", used: "700", idleFiles: "100")

    let room = room(files.merging(["/p/self/cgroup": "0::/a"]) { $1 })

    #expect(room == MemoryUse(used: 600, limit: 1_000))
  }

  @Test func `a limit above counts if it leaves less room`() {
    let files = group("/c/a/b", max: "1000", used: "500")
      .merging(group("/c/a", max: "2000", used: "1900")) { $1 }
      .merging(["/p/self/cgroup": "0::/a/b"]) { $1 }

    #expect(room(files) == MemoryUse(used: 1_900, limit: 2_000))
  }

  @Test func `in a container whose path is seen from outside only, the top counts`() {
    let files = group("/c", max: "1000", used: "950")
      .merging(["/p/self/cgroup": "0::/docker/1234"]) { $1 }

    #expect(room(files) == MemoryUse(used: 950, limit: 1_000))
  }

  @Test(arguments: [
    "max", "9223372036854771712", "18446744073709551615", "1024000", "2000000", "", "-1", "0",
  ])
  func `without a limit, or with one above the machine's memory, the machine's counts`(
    limit: String
  ) {
    let files = group("/c", max: limit, used: "900")

    #expect(room(files) == MemoryUse(used: 400 * 1_024, limit: 1_000 * 1_024))
  }

  @Test func `an absurd limit is ignored, also if the machine's memory is unknown`() {
    #expect(readings(group("/c", max: "9223372036854771712", used: "900")).isEmpty)
  }

  @Test(arguments: ["memory.max", "memory.current", "memory.stat"])
  func `a group that reports only half is ignored`(missing: String) {
    var files = group("/c", max: "1000", used: "900")
    files["/c/\(missing)"] = nil

    #expect(room(files)?.limit == 1_000 * 1_024)
    files["/c/\(missing)"] = "\u{FFFD} garbage"
    #expect(room(files)?.limit == 1_000 * 1_024)
  }

  @Test func `more idle files than use are no use`() {
    let files = group("/c", max: "1000", used: "100", idleFiles: "9223372036854775807")

    #expect(room(files) == MemoryUse(used: 0, limit: 1_000))
  }

  @Test func `the group's stalls come before the machine's`() {
    let readings = readings([
      "/p/self/cgroup": "0::/a", "/c/a/memory.pressure": Self.calm,
      "/p/pressure/memory": Self.stalled,
    ])

    #expect(readings.stall?.some == 0)
  }

  @Test func `the machine's stalls count where no group reports any`() {
    let readings = readings([
      "/c/memory.pressure": "garbage", "/p/pressure/memory": Self.stalled,
    ])

    #expect(readings.stall == MemoryStall(pressure: Self.stalled) && readings.room == nil)
  }

  @Test func `nothing readable is no reading`() {
    #expect(readings([:]).isEmpty)
  }

  @Test(arguments: KernelFileParserTests.garbage)
  func `files full of garbage are no reading`(garbage: String) {
    let readings = SystemMemory().readings { _ in garbage }

    #expect(readings.isEmpty)
  }
}
