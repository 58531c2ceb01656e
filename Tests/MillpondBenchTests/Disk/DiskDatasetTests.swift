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

  @Test func `the first of them are a data set too`() {
    let dataset = DiskDataset(size: 8, count: 50).firstFew(4)

    #expect(dataset.keys == DiskDataset(size: 8, count: 4).keys)
    #expect(dataset.order.sorted() == [0, 1, 2, 3])
    #expect(dataset.firstFew(9).values.count == 4)
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

@Suite struct OverwritesTests {
  private let overwrites = Overwrites(keys: 20, rounds: 10)

  @Test func `every key is set as often as there are rounds, in disorder`() {
    let counts = Dictionary(overwrites.order.map { ($0, 1) }, uniquingKeysWith: +)

    #expect(counts.count == 20)
    #expect(counts.values.allSatisfy { $0 == 10 })
    #expect(Array(overwrites.order.prefix(20)) != Array(0..<20))
  }

  @Test func `the last set of a key is after all others of it`() {
    let last = overwrites.last

    #expect(last.indices.allSatisfy { overwrites.order[last[$0]] == $0 })
    #expect(
      overwrites.order.enumerated().allSatisfy { turn, number in turn <= last[number] })
  }
}
