import Foundation
import Testing

@testable import MillpondBench

@Suite struct DiskDatasetTests {
  @Test(arguments: [1, 7, 8, 100])
  func `values have the length that was asked for, to the last byte`(size: Int) {
    let dataset = DiskDataset(size: size, count: 3)

    #expect(dataset.values.map(\.count) == [size, size, size])
  }

  @Test func `keys and values are all different, and the same each time`() {
    let dataset = DiskDataset(size: 100, count: 500)

    #expect(Set(dataset.keys).count == 500)
    #expect(Set(dataset.values).count == 500)
    #expect(DiskDataset(size: 100, count: 500).values == dataset.values)
  }

  @Test func `each is asked for once, in disorder`() {
    let dataset = DiskDataset(size: 8, count: 50)

    #expect(dataset.order.sorted() == Array(0..<50))
    #expect(dataset.order != Array(0..<50))
  }

  @Test(arguments: [0, 4, 7])
  func `another byte at either end or in the middle, or one less, is seen at a glance`(
    place: Int
  ) {
    let value = Data.numbered(1, 8)
    var other = value
    other[place] &+= 1

    #expect(other.glance != value.glance)
    #expect(value.dropLast().glance != value.glance)
  }

  @Test func `nothing is seen of no bytes`() {
    #expect(Data().glance == 0)
  }
}
