import Testing

@testable import MillpondCore

@Suite struct KernelFileParserTests {
  static let garbage = [
    "", "\n", " ", "max", "-1", "-9223372036854775809", "9223372036854775808", "1e3", "0x10",
    "\u{0}\u{0}", "\u{FFFD}", String(repeating: "9", count: 10_000), "12kB", "nan",
  ]

  @Test(arguments: [("0", 0), ("4096\n", 4_096), ("9223372036854775807\n", Int.max), ("7 8", 7)])
  func `a count of bytes is read`(text: String, bytes: Int) {
    #expect(KernelFileParser.bytes(text) == bytes)
  }

  @Test(arguments: garbage)
  func `text that is not a count is not read`(text: String) {
    #expect(KernelFileParser.bytes(text) == nil)
    #expect(KernelFileParser.bytes(of: "file", in: "file \(text)") == nil)
    #expect(KernelFileParser.kibibytes(of: "MemTotal:", in: "MemTotal: \(text) kB") == nil)
  }

  @Test func `a line is found by its whole first word`() {
    let text = "inactive_file_x 1\ntotal_inactive_file 2\ninactive_file 3\ninactive_file 4\n"

    #expect(KernelFileParser.bytes(of: "inactive_file", in: text) == 3)
    #expect(KernelFileParser.bytes(of: "inactive", in: text) == nil)
  }

  @Test(arguments: ["MemTotal: 1", "MemTotal: 1 MB", "MemTotal: 9007199254740992 kB", "MemTotal:"])
  func `a line that is not in kibibytes, or overflows, is not read`(text: String) {
    #expect(KernelFileParser.kibibytes(of: "MemTotal:", in: text) == nil)
  }

  @Test func `kibibytes are of 1024 bytes`() {
    #expect(
      KernelFileParser.kibibytes(of: "MemTotal:", in: "MemTotal:    24684096 kB") == 25_276_514_304)
  }

  @Test func `an average is read from its line`() {
    let text = """
      some avg10=2.50 avg60=1.00 avg300=0.10 total=12345
      full avg10=0.75 avg60=0.50 avg300=0.05 total=678
      """

    #expect(MemoryStall(pressure: text)?.some == 2.5)
    #expect(MemoryStall(pressure: text)?.full == 0.75)
  }

  @Test(arguments: ["nan", "inf", "-0.01", "100.01", "1e300", "", "x", "1,5"])
  func `an average that is not a percentage is not read`(average: String) {
    let text = "some avg10=\(average) total=1\nfull avg10=0.00 total=1\n"

    #expect(MemoryStall(pressure: text) == nil)
  }

  @Test func `half of the averages are not read`() {
    #expect(MemoryStall(pressure: "some avg10=1.00 avg60=1.00") == nil)
    #expect(MemoryStall(pressure: "full avg10=1.00 avg60=1.00") == nil)
  }

  @Test(arguments: [
    "", "MemTotal: 100 kB", "MemAvailable: 1 kB", "MemTotal: 0 kB\nMemAvailable: 0 kB",
    "MemTotal: 100 kB\nMemAvailable: 101 kB", "MemTotal: -5 kB\nMemAvailable: -6 kB",
  ])
  func `a machine whose memory is unknown or absurd has no reading`(text: String) {
    #expect(MemoryUse(meminfo: text) == nil)
  }
}
