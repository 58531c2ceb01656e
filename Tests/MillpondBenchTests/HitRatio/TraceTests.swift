import Testing

@testable import MillpondBench

@Suite struct TraceTests {
  @Test func `keys are numbered in the order of their first access`() {
    let trace = Trace(name: "", keys: [7, 3, 7, .max])

    #expect(trace.numbers == [0, 1, 0, 2])
    #expect(trace.keyCount == 3)
  }

  @Test func `the footprint in bytes has each key once`() {
    #expect(Trace(name: "", keys: [7, 3, 7], sizes: [10, 5, 10]).byteCount == 15)
    #expect(Trace(name: "", keys: [7, 3, 7]).byteCount == 2)
  }

  @Test func `hits are counted, and their bytes`() {
    let trace = Trace(name: "", keys: [7, 3, 7, 4], sizes: [10, 5, 10, 15])

    let hitCounts = trace.hitCounts { $0.key == 7 }

    #expect(hitCounts.hitRatio == 50)
    #expect(hitCounts.byteRatio == 50)
    #expect(trace.hitCounts { $0.size == 5 }.byteRatio == 12.5)
  }

  @Test func `nothing asked, or nothing but empty values, is a ratio of zero`() {
    #expect(HitCounts().hitRatio == 0)
    #expect(Trace(name: "", keys: [1], sizes: [0]).hitCounts { _ in true }.byteRatio == 0)
  }
}
