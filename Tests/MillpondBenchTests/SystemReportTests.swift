#if os(Linux)
  import Foundation
  import Testing

  @testable import MillpondBench

  @Suite struct SystemReportTests {
    @Test func `the bytes that this process writes count`() throws {
      let scene = try WorkFolderScene()
      let before = try #require(SystemReport.writtenBytes)

      try Data(count: 100_000).write(to: URL(filePath: scene.workFolder.path + "/a"))

      #expect(try #require(SystemReport.writtenBytes) - before >= 100_000)
    }

    @Test func `files in the system's shared memory are in memory only, devices are not`() {
      #expect(!SystemReport.isMemory("/proc"))
      if FileManager.default.fileExists(atPath: "/dev/shm") {
        #expect(SystemReport.isMemory("/dev/shm"))
      }
      #expect(!SystemReport.isMemory("/none"))
    }

    @Test func `the memory of this process is known`() {
      #expect(SystemReport.residentBytes ?? 0 > 1 << 20)
    }

    @Test func `held memory counts`() throws {
      let before = try #require(SystemReport.heapBytes)

      let held = UnsafeMutableRawPointer.allocate(byteCount: 64 << 20, alignment: 16)
      let after = try #require(SystemReport.heapBytes)
      held.deallocate()

      #expect(after - before > 32 << 20)
    }

    @Test func `the totals count, not those of one heap`() {
      let report = HeapReport(
        """
        <malloc version="1"><heap nr="0"><total type="rest" count="1" size="5"/>
        <system type="current" size="7"/></heap>
        <total type="fast" count="1" size="10"/><total type="rest" count="2" size="200"/>
        <total type="mmap" count="3" size="4000"/><system type="current" size="1000"/></malloc>
        """)

      #expect(report.use == 1_000 - 10 - 200 + 4_000)
      #expect(HeapReport("<malloc/>").use == nil)
    }
  }
#endif
