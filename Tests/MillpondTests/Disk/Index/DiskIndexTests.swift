import Foundation
import MillpondCore
import Testing

@testable import Millpond

@Suite struct DiskIndexTests {
  private let cost = DiskLimits.cost(recordSize: 80, large: 0)

  // MARK: - Write and writing

  @Test func `a write is there before it is on disk, and at its location afterwards`() {
    let scene = IndexScene()

    let (write, consequence) = scene.set("a")
    #expect(consequence.isToBeWritten)
    #expect(scene.pending("a") === write)

    #expect(scene.settle(write) == [])
    #expect(scene.location("a")?.size == 80)
    #expect(scene.index.liveBytes == 80)
    #expect(scene.index.totalCost == cost)
  }

  @Test func `two writes of a key before it is on disk are one record`() {
    let scene = IndexScene()
    let (first, _) = scene.set("a")

    let (second, consequence) = scene.set("a")

    #expect(consequence.superseded === first)
    #expect(scene.pending("a") === second)
    #expect(scene.index.count == 1)
  }

  @Test func `of two writes the later one wins, whichever comes first`() {
    let scene = IndexScene()
    let (first, second, third) = (Revision.next(), Revision.next(), Revision.next())
    let (write, _) = scene.set("a", second)

    #expect(!scene.set("a", first).1.isToBeWritten)
    #expect(!scene.remove("a", first).isToBeWritten)
    #expect(scene.pending("a") === write)
    scene.settle(write)
    #expect(!scene.set("a", first).1.isToBeWritten)

    #expect(scene.remove("a", third).isToBeWritten)
    #expect(!scene.set("a", second).1.isToBeWritten)
    #expect(!scene.has("a"))
  }

  @Test func `a value that can't be written leaves the former one`() {
    let scene = IndexScene()
    scene.put("a")
    let old = scene.location("a")
    let (write, _) = scene.set("a", cost: 500)

    let files = scene.fail(write)

    #expect(scene.location("a") == old)
    #expect(scene.index.totalCost == cost)
    #expect(files == [])
  }

  @Test func `a value that can't be written leaves an absent key absent`() {
    let scene = IndexScene()
    let (write, _) = scene.set("a")
    write.file = FileValue(number: 9, length: 1_000, checksum: 0)

    let files = scene.fail(write)

    #expect(!scene.has("a"))
    #expect(scene.index.totalCost == 0 && scene.index.largeBytes == 0)
    #expect(files == [9])
  }

  @Test func `an end that comes too late changes nothing`() {
    let scene = IndexScene()
    let (first, _) = scene.set("a")
    let (second, _) = scene.set("a")

    #expect(scene.fail(first) == [])
    #expect(scene.pending("a") === second)

    scene.remove("a")
    #expect(scene.settle(second, file: 5) == [5])
    #expect(!scene.has("a"))
    #expect(scene.index.liveBytes == 0 && scene.index.largeBytes == 0)
  }

  @Test func `a removal of an absent key is written too`() {
    let scene = IndexScene()

    #expect(scene.remove("a").isToBeWritten)
  }

  @Test func `a removal drops pending writes and what lies on disk`() {
    let scene = IndexScene()
    scene.put("a", file: 3)
    let (write, _) = scene.set("a")

    let consequence = scene.remove("a")

    #expect(consequence.superseded === write)
    #expect(consequence.files == [3])
    #expect(scene.index.count == 0 && scene.index.totalCost == 0)
    #expect(scene.index.liveBytes == 0 && scene.index.largeBytes == 0)
  }

  @Test func `a removal of everything spares later writes`() {
    let scene = IndexScene()
    scene.put("a")
    let revision = Revision.next()
    let (late, _) = scene.set("b")

    let (isFirst, consequence) = scene.removeAll(revision)

    #expect(isFirst)

    #expect(consequence.isToBeWritten)
    #expect(!scene.has("a"))
    #expect(scene.pending("b") === late)
    #expect(scene.index.totalCost == 100)
  }

  @Test func `an earlier removal of everything comes too late`() {
    let scene = IndexScene()
    let early = Revision.next()
    #expect(scene.removeAll().isFirst)

    let (isFirst, consequence) = scene.removeAll(early)

    #expect(!isFirst)
    #expect(!consequence.isToBeWritten)
    #expect(!scene.set("a", early).1.isToBeWritten)
  }

  @Test func `the removal of everything says what was on its way`() {
    let scene = IndexScene()
    let (write, _) = scene.set("a")
    scene.put("b", file: 4)

    let (isFirst, consequence) = scene.removeAll()

    #expect(isFirst)

    #expect(consequence.evicted.count == 1 && consequence.evicted.first === write)
    #expect(consequence.files == [4])
  }

  @Test func `the removal of everything leaves nothing of what it removes`() {
    let scene = IndexScene(costLimit: 1_000_000)
    for key in 0..<1_000 { scene.put("\(key)") }
    let (taken, _) = scene.set("taken")
    taken.take()
    let (waiting, _) = scene.set("waiting")
    let statistics = scene.index.statistics

    let (_, consequence) = scene.removeAll()

    #expect(consequence.former is DiskIndex)
    #expect(scene.index.hashes.isEmpty && scene.index.count == 0)
    #expect(scene.index.liveBytes == 0 && scene.index.totalCost == 0)
    #expect(Set(consequence.evicted.map(\.key)) == ["taken", "waiting"])
    #expect(scene.index.statistics == statistics)
    // The writer's value is written, and no longer current.
    #expect(scene.settle(taken, file: 5) == [5])
    #expect(scene.fail(waiting).isEmpty)
    #expect(scene.index.count == 0 && scene.index.largeBytes == 0)
    scene.put("new")
    #expect(scene.has("new") && scene.index.count == 1)
  }

  @Test func `files that are lent outlast the removal of everything`() {
    let scene = IndexScene()
    scene.put("a", file: 4)
    scene.index.lease(4)

    #expect(scene.removeAll().1.files.isEmpty)

    #expect(scene.giveBack(4))
  }

  @Test func `a write from before a removal of everything is refused after it`() {
    let scene = IndexScene()
    let (early, token) = (Revision.next(), FillToken())
    scene.put("b")

    _ = scene.removeAll()

    #expect(!scene.set("a", early).1.isToBeWritten)
    #expect(!scene.fill("a", token))
    #expect(scene.index.count == 0)
  }

  // MARK: - Filling

  @Test func `a fill comes too late if a write came since its mark`() {
    let scene = IndexScene()
    let mark = FillToken()

    #expect(scene.fill("a", mark))
    scene.set("a")
    #expect(!scene.fill("a", mark))
    scene.remove("a")
    #expect(!scene.fill("a", mark))
    #expect(scene.fill("a", .any))
  }

  // MARK: - Finding, moving and forgetting

  @Test func `a copy is noted only if the original is still needed`() throws {
    let scene = IndexScene()
    scene.put("a")
    let (hash, old) = (KeyHash(of: "a"), try #require(scene.location("a")))
    var new = old
    (new.segment, new.offset) = (2, 7)

    scene.index.move(hash, from: old, to: new)
    #expect(scene.location("a") == new)
    scene.index.move(
      hash, from: old, to: RecordLocation(segment: 3, offset: 0, size: 80, expiry: .max))
    #expect(scene.location("a") == new)
    scene.index.move(KeyHash(of: "b"), from: old, to: new)
    #expect(!scene.has("b"))
  }

  @Test func `a bad record is forgotten once, and only if its key has not been written since`()
    throws
  {
    let scene = IndexScene()
    scene.put("a", file: 3)
    let location = try #require(scene.location("a"))
    let (write, _) = scene.set("a")
    #expect(scene.forget("a", at: location) == nil)
    #expect(scene.fail(write) == [])

    #expect(scene.forget("a", at: location) == [3])
    #expect(scene.forget("a", at: location) == nil)
    #expect(scene.index.totalCost == 0 && scene.index.liveBytes == 0)
  }

  @Test func `of a lost folder only what is on its way is left`() {
    let scene = IndexScene()
    for key in ["a", "b"] { scene.put(key, file: 2) }
    let (write, _) = scene.set("b")

    scene.index.forgetAllLocations()

    #expect(!scene.has("a") && scene.pending("b") === write)
    #expect(scene.index.liveBytes == 0)
    scene.settle(write)
    #expect(scene.index.liveBytes == 80 && scene.index.totalCost == cost)
  }

  @Test func `the entries come in the order of eviction`() {
    let scene = IndexScene()
    for key in ["a", "b", "c"] { scene.put(key) }
    _ = scene.index.find(KeyHash(of: "a"))

    #expect(scene.index.entries.map(\.hash) == ["b", "c", "a"].map { KeyHash(of: $0) })
  }
}
