import Testing

@testable import MillpondCore

@Suite struct ColumnTests {
  @Test func `it has what was appended, through every move to larger memory`() {
    var column = Column<Int>()

    for number in 0..<1_000 { column.append(number) }

    #expect(Array(column) == Array(0..<1_000))
    #expect(column.capacity >= 1_000)
  }

  @Test func `an element is put in the place of another, or behind the last`() {
    var column = Column<UInt8>(repeating: 7, count: 2)

    column.put(1, at: 0)
    column.put(2, at: 2)

    #expect(Array(column) == [1, 7, 2])
  }

  @Test func `room that is reserved is there, and never becomes less`() {
    var column = Column<Int>(repeating: 1, count: 3)

    column.reserve(100)
    column.reserve(10)

    #expect(column.capacity == 100 && Array(column) == [1, 1, 1])
  }

  @Test func `one without elements needs no memory`() {
    let column = Column<Int>()

    #expect(column.isEmpty && column.base == nil && column.memory == nil)
  }
}
