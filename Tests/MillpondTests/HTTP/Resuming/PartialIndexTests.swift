import Testing

@testable import Millpond

@Suite struct PartialIndexTests {
  @Test func `the oldest go first, and what is added anew is the newest`() {
    var index = PartialIndex([("a", 4), ("b", 4)], byteLimit: 10)

    #expect(index.add("a", byteCount: 4).isEmpty)
    #expect(index.add("c", byteCount: 4) == ["b"])
    #expect(index.has("a") && index.has("c") && !index.has("b"))
  }

  @Test func `what is too large takes nothing but its former self`() {
    var index = PartialIndex([("a", 4), ("b", 4)], byteLimit: 10)

    #expect(index.add("a", byteCount: 11) == ["a"])
    #expect(!index.has("a") && index.has("b"))
  }

  @Test func `sizes that can't be overflow nothing`() {
    var index = PartialIndex([("a", .max), ("b", .max), ("c", .min)], byteLimit: .max)

    #expect(index.add("d", byteCount: .max).isEmpty)
    #expect(index.has("a"))
  }
}
