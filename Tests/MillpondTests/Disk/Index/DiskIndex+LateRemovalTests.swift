import Foundation
import Testing

@testable import Millpond
@testable import MillpondCore

/// A removal of everything that a later write has overtaken: it counts at once, and is carried out
/// in steps.
@Suite struct DiskIndexLateRemovalTests {
  private let scene = IndexScene(costLimit: .max / 4, .adaptive)
  private static let count = 2_000
  private let revision: Revision

  init() {
    for number in 0..<Self.count { scene.put("\(number)") }
    revision = .next()
    scene.put("later")
  }

  private var isAnyThere: Bool {
    (0..<Self.count).contains { scene.has("\($0)") }
  }

  /// Drops what is left, and returns the greatest number of entries and of slots that a step gave
  /// up.
  @discardableResult
  private func finish() -> (entries: Int, slots: Int, [DiskIndex.Consequence]) {
    var (entries, slots, consequences) = (0, 0, [DiskIndex.Consequence]())
    var goesOn = true
    while goesOn {
      let former = (scene.index.count, scene.index.hashes.count)
      goesOn = scene.index.dropRemoved()
      consequences.append(scene.index.takeConsequence())
      entries = max(entries, former.0 - scene.index.count)
      slots = max(slots, former.1 - scene.index.hashes.count)
    }
    return (entries, slots, consequences)
  }

  @Test func `entries written before are gone at once, and dropped a step at a time`() {
    let isFirst = scene.index.removeAll(revision).isToBeWritten

    #expect(isFirst && !isAnyThere && scene.has("later"))
    #expect(scene.index.count == Self.count + 1)
    let (entries, slots, _) = finish()

    #expect(entries == RemovedEntries.stepSize && entries <= 256)
    #expect((1...RemovedEntries.stepSize + 16).contains(slots))
    #expect(scene.index.count == 1 && scene.has("later") && !isAnyThere)
    #expect(scene.index.liveBytes == 80 && scene.index.totalCost > 0)
    #expect(scene.index.hashes.count <= 1_024 && scene.index.walks == 0)
    #expect(scene.index.removed == nil)
  }

  @Test func `nothing that is removed is visited, and its record is not held`() {
    let location = scene.location("7")
    _ = scene.index.removeAll(revision)
    _ = scene.index.dropRemoved(atMost: 100)

    var walk = LocationWalk()
    var found: [KeyHash] = []
    while walk.step(&scene.index, { found.append($0.hash) }) {}

    #expect(found == [KeyHash(of: "later")])
    let first = KeyHash(of: "0")
    #expect(location.map { scene.index.holds(KeyHash(of: "7"), at: $0) } == false)
    let isFound = scene.index.find(first) != nil
    #expect(!isFound && scene.index.peek(first) == nil)
    #expect(!scene.index.isOlder(first, than: .last))
  }

  @Test func `values stored between the steps stay, also of keys that were removed`() {
    let early = FillToken()
    _ = scene.index.removeAll(revision)
    _ = scene.index.dropRemoved(atMost: 100)

    scene.put("1000")
    #expect(scene.fill("1001", FillToken()))
    #expect(!scene.fill("1002", early))
    #expect(!scene.set("1003", revision.earlier).1.isToBeWritten)
    scene.remove("1004")
    finish()

    #expect(["later", "1000", "1001"].allSatisfy { scene.has($0) })
    #expect(["1002", "1003", "1004"].allSatisfy { !scene.has($0) })
    #expect(scene.index.count == 3)
    scene.remove("1000")
    #expect(!scene.has("1000"))
  }

  @Test func `a fill after the removal is spared by it, and removed by the next`() {
    _ = scene.index.removeAll(revision)
    #expect(scene.fill("a", FillToken()))
    finish()
    #expect(scene.has("a"))

    let next = Revision.next()
    scene.put("last")
    _ = scene.index.removeAll(next)

    #expect(!scene.has("a") && !scene.has("later") && scene.has("last"))
  }

  @Test func `pending writes are not written, and the one being written is not kept`() {
    let (waiting, _) = scene.set("waiting", revision.earlier)
    let (taken, _) = scene.set("taken", revision.earlier)
    taken.isTaken = true

    _ = scene.index.removeAll(revision)
    #expect(!scene.has("waiting") && !scene.has("taken"))
    scene.settle(taken, file: 9)
    #expect(!scene.has("taken"))
    let consequences = finish().2

    #expect(consequences.flatMap(\.evicted).map(\.key) == ["waiting"])
    #expect(consequences.flatMap(\.files) == [9])
    #expect(waiting.slot == -1 && scene.index.pendingCount == 0)
    #expect(scene.index.liveBytes == 80 && scene.index.largeBytes == 0)
  }

  @Test func `many pending writes are given up a step at a time, and the rest at once`() {
    let pending = RemovedEntries.pendingCount + 1_000
    for number in 0..<pending { scene.set("pending \(number)") }

    let consequence = scene.index.removeAll(.next())
    #expect(consequence.isToBeWritten && consequence.evicted.isEmpty)
    #expect(!isAnyThere && !scene.has("later") && !scene.has("pending 0"))
    let (_, _, consequences) = finish()

    #expect(consequences.allSatisfy { $0.evicted.count <= 2 * RemovedEntries.pendingCount })
    #expect(consequences.count > 1_000 / RemovedEntries.stepSize)
    #expect(consequences.count < pending / RemovedEntries.stepSize)
    #expect(consequences.reduce(0) { $0 + $1.evicted.count } == pending)
    #expect(consequences.contains { $0.former != nil })
    #expect(scene.index.count == 0 && scene.index.pendingCount == 0 && scene.index.walks == 0)
  }

  @Test(arguments: [true, false])
  func `a value stored while many pending writes are dropped stays`(isFill: Bool) {
    for number in 0..<RemovedEntries.pendingCount + 1_000 { scene.set("pending \(number)") }
    _ = scene.index.removeAll(.next())
    _ = scene.index.dropRemoved()

    if isFill { #expect(scene.fill("new", FillToken())) } else { scene.put("new") }
    finish()

    #expect(scene.has("new") && scene.index.count == 1)
    #expect(scene.removeAll().isFirst && scene.index.count == 0)
  }

  @Test func `a later removal takes the place of one that has not ended`() {
    _ = scene.index.removeAll(revision)
    _ = scene.index.dropRemoved(atMost: 100)
    scene.put("between")
    let second = Revision.next()
    scene.put("last")

    _ = scene.index.removeAll(second)
    #expect(!scene.has("between") && !scene.has("later") && scene.has("last"))
    _ = scene.index.dropRemoved(atMost: 100)
    #expect(scene.removeAll().isFirst)

    #expect(scene.index.count == 0 && scene.index.removed == nil && scene.index.walks == 0)
    let goesOn = scene.index.dropRemoved()
    #expect(!goesOn)
    scene.put("new")
    #expect(scene.has("new") && scene.index.count == 1)
  }
}

extension Revision {
  /// A revision that is a little earlier.
  fileprivate var earlier: Revision {
    Revision(number: number - 1)
  }
}
