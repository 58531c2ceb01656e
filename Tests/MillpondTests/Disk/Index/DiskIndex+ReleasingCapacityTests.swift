import Foundation
import Testing

@testable import Millpond
@testable import MillpondCore

/// The memory of an index: what is not needed is given back.
@Suite struct DiskIndexReleasingCapacityTests {
  private let scene = IndexScene(costLimit: .max / 4, .adaptive)
  private static let count = 8_000

  init() {
    for number in 0..<Self.count { scene.put("\(number)") }
  }

  private func isThere(_ number: Int) -> Bool {
    guard case .location = scene.index.peek(KeyHash(of: "\(number)")) else { return false }
    return true
  }

  @Test func `memory is given back when entries are removed one by one`() {
    for number in 0..<Self.count - 500 { scene.remove("\(number)") }

    #expect(scene.index.count == 500 && scene.index.hashes.count <= 2_000)
    #expect(scene.index.hashes.capacity <= 4_096 && scene.index.locations.capacity <= 4_096)
    #expect((Self.count - 500..<Self.count).allSatisfy { isThere($0) })
    #expect(scene.index.liveBytes == 500 * 80)
    for number in Self.count..<2 * Self.count { scene.put("\(number)") }
    #expect((Self.count - 500..<2 * Self.count).allSatisfy { isThere($0) })
  }

  @Test func `entries keep their order of eviction`() {
    let former = scene.index.entries.suffix(400).map(\.hash)

    scene.index.shrink()
    #expect(scene.index.entries.suffix(400).map(\.hash) == former)
  }

  @Test func `a pending write, and the one that it overtakes, move with their entry`() {
    let last = Self.count - 1
    let (first, _) = scene.set("\(last)")
    first.take()
    let (second, _) = scene.set("\(last)")

    for number in 0..<last { scene.remove("\(number)") }

    #expect(scene.index.hashes.count <= 1_024 && scene.pending("\(last)") === second)
    scene.settle(first)
    #expect(scene.pending("\(last)") === second)
    #expect(scene.fail(second) == [] && isThere(last))
    #expect(!scene.set("\(last)", .none).1.isToBeWritten)
  }

  @Test func `a large value and its lease move with its entry`() {
    scene.put("large", file: 7)

    for number in 0..<Self.count { scene.remove("\(number)") }

    #expect(scene.index.hashes.count <= 1_024)
    #expect(scene.lease("large", FileValue(number: 7, length: 1_000, checksum: 0)))
    #expect(scene.remove("large").files == [] && scene.giveBack(7))
  }

  @Test func `records that are loaded one by one rebuild the table seldom`() {
    var index = DiskIndex(costLimit: .max / 4, .adaptive)
    var sizes: Set<Int> = []

    for number in 0..<Self.count {
      index.load(KeyHash(of: "\(number)"), scene.nextLocation(), nil)
      sizes.insert(index.slots.buckets.count)
    }

    #expect(index.count == Self.count && sizes.count <= 20)
  }

  @Test func `the first write after opening many entries allocates little`() {
    var index = DiskIndex(costLimit: .max / 4, .adaptive)
    index.reserve(50_000)
    for number in 0..<50_000 {
      index.restore(KeyHash(of: "\(number)"), scene.nextLocation(), nil)
    }
    index.findRestored()
    let (chunk, blocks) = (index.hashes.capacity, index.order.sketch.blocks)
    let buckets = index.slots.buckets.count

    let write = IndexScene.write("new")
    _ = index.decide(write)
    index.settle(write, at: scene.nextLocation())

    let added = index.hashes.capacity - chunk
    #expect(added <= ChunkedArray<KeyHash>.chunkLength && index.order.sketch.blocks == blocks)
    #expect(index.slots.buckets.count == buckets)
  }
}
