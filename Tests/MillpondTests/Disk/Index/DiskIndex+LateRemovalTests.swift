import Foundation
import Testing

@testable import Millpond
@testable import MillpondCore

/// A removal of everything that a later write has overtaken.
@Suite struct DiskIndexLateRemovalTests {
  private let scene = IndexScene(costLimit: .max / 4, .adaptive)
  private static let count = 2_000
  private let revision: Revision

  init() {
    for number in 0..<Self.count { scene.put("\(number)") }
    revision = .next()
    scene.put("later", file: 3)
  }

  private var isAnyThere: Bool {
    (0..<Self.count).contains { scene.has("\($0)") }
  }

  @Test func `entries written before are gone, and later ones stay with their records`() {
    let location = scene.location("later")
    let (pending, _) = scene.set("pending")

    let (_, consequence) = scene.removeAll(revision)

    #expect(consequence.isToBeWritten && !isAnyThere && scene.location("later") == location)
    #expect(scene.pending("pending") === pending && scene.index.count == 2)
    #expect(scene.index.liveBytes == 80 && scene.index.largeBytes == 1_000)
    #expect(scene.index.hashes.count == 2)
    scene.settle(pending)
    #expect(scene.location("pending") != nil)
    #expect(scene.remove("later").files == [3])
  }

  @Test func `only later writes, and fills, are admitted afterwards`() {
    let early = FillToken()
    _ = scene.removeAll(revision)

    scene.put("1000")
    #expect(scene.fill("1001", FillToken()))
    #expect(!scene.fill("1002", early))
    #expect(!scene.set("1003", revision.earlier).1.isToBeWritten)

    #expect(["later", "1000", "1001"].allSatisfy { scene.has($0) })
    #expect(["1002", "1003"].allSatisfy { !scene.has($0) })
    #expect(scene.index.count == 3)
  }

  @Test func `a fill after the removal is spared by it, and removed by the next`() {
    _ = scene.removeAll(revision)
    #expect(scene.fill("a", FillToken()))

    let next = Revision.next()
    scene.put("last")
    _ = scene.removeAll(next)

    #expect(!scene.has("a") && !scene.has("later") && scene.has("last"))
  }

  @Test func `pending writes are not written, and the one being written is not kept`() {
    let (waiting, _) = scene.set("waiting", revision.earlier)
    let (taken, _) = scene.set("taken", revision.earlier)
    taken.take()

    let (_, consequence) = scene.removeAll(revision)

    #expect(!scene.has("waiting") && !scene.has("taken"))
    #expect(scene.settle(taken, file: 9) == [9])
    #expect(!scene.has("taken"))
    #expect(Set(consequence.evicted.map(\.key)) == ["waiting", "taken"])
    #expect(scene.fail(waiting) == [] && scene.index.pendingCount == 0)
    #expect(scene.index.liveBytes == 80 && scene.index.largeBytes == 1_000)
  }

  @Test func `a value that can't be written leaves none from before the removal`() {
    let (write, _) = scene.set("7")

    _ = scene.removeAll(revision)
    #expect(scene.pending("7") === write)
    let failed = scene.index.fail(write)

    #expect(failed.leavesRecord && !scene.has("7"))
  }
}

extension Revision {
  /// A revision that is a little earlier.
  fileprivate var earlier: Revision {
    Revision(number: number - 1)
  }
}
