import Testing

@testable import Millpond

@Suite struct PartialIndexTests {
  @Test func `the oldest go first, and what is added anew is the newest`() {
    var index = PartialIndex([("a", 4), ("b", 4)], byteLimit: 10)

    #expect(index.add("a", byteCount: 4) == [])
    #expect(index.add("c", byteCount: 4) == ["b"])
    #expect(index.has("a") && index.has("c") && !index.has("b"))
  }

  @Test func `a body larger than the limit is refused`() {
    var index = PartialIndex([("a", 4), ("b", 4)], byteLimit: 10)

    #expect(index.add("a", byteCount: 11) == nil)
    #expect(index.add("a", byteCount: 10) == ["b"])
  }

  @Test func `sizes that can't be overflow nothing`() {
    var index = PartialIndex([("a", .max), ("b", .max), ("c", .min)], byteLimit: .max)

    #expect(index.add("d", byteCount: .max) == [])
    #expect(index.has("a"))
  }

  @Test func `no other finds or writes a lent value until it is taken back`() {
    var index = PartialIndex([("a", 4)], byteLimit: 10)

    #expect(index.lend("a") == true)
    #expect(!index.has("a"))
    #expect(index.lend("a") == false)
    #expect(index.add("a", byteCount: 4) == nil)
    let isRemoved = index.remove("a")
    #expect(!isRemoved)

    index.takeBack("a", byteCount: 4)
    #expect(index.lend("a") == true)
  }

  @Test func `a lent file that was used leaves the index`() {
    var index = PartialIndex([("a", 4)], byteLimit: 10)
    #expect(index.lend("a") == true)

    index.endLending("a")

    #expect(!index.has("a"))
    #expect(index.add("a", byteCount: 4) == [])
  }

  @Test func `a file lent during a removal of everything is removed too, and does not come back`() {
    var index = PartialIndex([("a", 4)], byteLimit: 10)
    #expect(index.lend("a") == true)

    index.removeAll()
    index.takeBack("a", byteCount: 4)

    #expect(!index.has("a"))
  }
}
