#if os(Linux)
  import Testing

  @testable import MillpondBench

  @Suite struct HeapUseTests {
    @Test func `held memory counts`() throws {
      let before = try #require(heapUse())

      let held = UnsafeMutableRawPointer.allocate(byteCount: 64 << 20, alignment: 16)
      let after = try #require(heapUse())
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
    }

    @Test func `a report without totals has no reading`() {
      #expect(HeapReport("<malloc/>").use == nil)
    }
  }
#endif
