#if os(Linux)
  import Foundation
  import Testing

  @testable import MillpondBench

  @Suite struct SystemReportTests {
    @Test func `files in the system's shared memory are in memory only, devices are not`() {
      #expect(!SystemReport.isMemory("/proc"))
      if FileManager.default.fileExists(atPath: "/dev/shm") {
        #expect(SystemReport.isMemory("/dev/shm"))
      }
      #expect(!SystemReport.isMemory("/none"))
    }

    @Test func `memory that is held counts, for each thing`() throws {
      var held = [UInt8]()

      let growth = SystemReport.growth(per: 1_000) { held = .init(repeating: 1, count: 64 << 20) }

      #expect(held.count == 64 << 20)
      #expect(try #require(growth) > Double(32 << 20) / 1_000)
    }
  }
#endif
