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

  @Test func `what is lent nobody else finds, nor writes, until it is taken back`() {
    var index = PartialIndex([("a", 4)], byteLimit: 10)

    #expect(index.lend("a") == true)
    #expect(!index.has("a"))
    #expect(index.lend("a") == false)
    #expect(index.add("a", byteCount: 4) == ["a"])

    index.takeBack("a", byteCount: 4)
    #expect(index.lend("a") == true)
  }

  @Test func `what was used is written anew`() {
    var index = PartialIndex([("a", 4)], byteLimit: 10)
    #expect(index.lend("a") == true)

    index.endLending("a")

    #expect(!index.has("a"))
    #expect(index.add("a", byteCount: 4).isEmpty)
    #expect(index.has("a"))
  }

  @Test func `what is lent while all is removed is removed too, and does not come back`() {
    var index = PartialIndex([("a", 4)], byteLimit: 10)
    #expect(index.lend("a") == true)

    #expect(index.removeAll() == ["a"])
    index.takeBack("a", byteCount: 4)

    #expect(!index.has("a"))
  }
}
