import Testing

@testable import Millpond

@Suite struct RecencyTableTests {
  private var table = RecencyTable<String, Int>()

  init() {
    for (index, key) in ["a", "b", "c"].enumerated() { table.insert(key, index) }
  }

  @Test func `the oldest is what was not used for longest`() {
    var table = table

    #expect(table.oldestKey == "a")
    #expect(table.use("a") == 0)
    #expect(table.oldestKey == "b")
    #expect(table.keys { _ in true } == ["b", "c", "a"])
  }

  @Test func `looking at an element and replacing it leave the order`() {
    var table = table

    #expect(table["a"] == 0)
    table.replace("a", by: 9)

    #expect(table["a"] == 9)
    #expect(table.oldestKey == "a")
  }

  @Test func `a replacement of what is not there adds nothing`() {
    var table = table

    table.replace("d", by: 9)

    #expect(table["d"] == nil)
    #expect(table.count == 3)
  }

  @Test(arguments: ["a", "b", "c"])
  func `a removed element leaves the others in order`(key: String) {
    var table = table

    #expect(table.remove(key) != nil)
    #expect(table.remove(key) == nil)

    #expect(table.keys { _ in true } == ["a", "b", "c"].filter { $0 != key })
    #expect(table.count == 2)
  }

  @Test func `places are used again`() {
    var table = table

    for round in 0..<1_000 {
      let oldest = table.oldestKey ?? ""
      _ = table.remove(oldest)
      table.insert("\(round)", round)
    }

    #expect(table.keys { _ in true } == ["997", "998", "999"])
  }

  @Test func `an emptied table has no oldest`() {
    var table = table

    for key in ["b", "a", "c"] { _ = table.remove(key) }

    #expect(table.oldestKey == nil)
    #expect(table.use("a") == nil)
  }
}
