import Testing

@testable import MillpondCore

@Suite struct ChunkedArrayTests {
  @Test func `it has what was appended, through every move to larger memory`() {
    var column = ChunkedArray<Int>()

    for number in 0..<1_000 { column.append(number) }

    #expect(Array(column) == Array(0..<1_000))
    #expect(column.capacity >= 1_000)
  }

  @Test func `an element is put in the place of another, or behind the last`() {
    var column = ChunkedArray<UInt8>(repeating: 7, count: 2)

    column.put(1, at: 0)
    column.put(2, at: 2)

    #expect(Array(column) == [1, 7, 2])
  }

  @Test(arguments: [0, 1, 1_024, 1_025, 2_500])
  func `it is made of equal elements, whatever the number of chunks`(count: Int) {
    var column = ChunkedArray<Int>(repeating: 7, count: count)

    column.append(8)

    #expect(Array(column) == Array(repeating: 7, count: count) + [8])
  }

  @Test func `room that is reserved is there, and never becomes less`() {
    var column = ChunkedArray<Int>(repeating: 1, count: 3)

    column.reserve(100)
    column.reserve(10)

    #expect(column.capacity == 100 && Array(column) == [1, 1, 1])
  }

  @Test func `a column that grows moves nothing out of its full chunks`() {
    var column = ChunkedArray<Int>(repeating: 1, count: ChunkedArray<Int>.chunkLength)
    let first = column.pointer(to: 0)

    for number in 0..<100_000 { column.append(number) }

    #expect(column.pointer(to: 0) == first && column[column.count - 1] == 99_999)
  }

  @Test func `chunks behind the last element are given back, except for one`() {
    var column = ChunkedArray<Int>()
    for number in 0..<100_000 { column.append(number) }

    while column.count > 10 { column.removeLast() }

    #expect(column.capacity <= 2 * ChunkedArray<Int>.chunkLength && Array(column) == Array(0..<10))
    for number in 10..<5_000 { column.append(number) }
    #expect(Array(column) == Array(0..<5_000))
  }

  @Test func `one without elements needs no memory`() {
    let column = ChunkedArray<Int>()

    #expect(column.isEmpty && column.chunks == nil && column.memory == nil)
  }
}
