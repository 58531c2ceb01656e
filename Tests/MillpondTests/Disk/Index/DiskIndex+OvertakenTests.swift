import Foundation
import MillpondCore
import Testing

@testable import Millpond

/// Writes under way that a later one overtakes.
@Suite struct DiskIndexOvertakenTests {
  private let scene = IndexScene()

  /// Returns a value that the writer has.
  private func taken(_ key: String) -> DiskWrite {
    let (write, _) = scene.set(key)
    write.take()
    return write
  }

  @Test func `a written value is there again when the write that overtook it fails`() throws {
    scene.put("a", file: 1)
    let first = taken("a")
    let (second, _) = scene.set("a")

    #expect(scene.settle(first, file: 2) == [1])
    #expect(scene.pending("a") === second)
    let (live, large) = (scene.index.liveBytes, scene.index.largeBytes)
    #expect(live == 80 && large == 1_000)
    #expect(scene.fail(second) == [])

    #expect(scene.location("a") != nil)
    #expect(scene.index.totalCost == DiskLimits.cost(recordSize: 80, large: 1_000))
    #expect(scene.remove("a").files == [2])
  }

  @Test func `of several that overtake it the last one counts`() throws {
    let first = taken("a")
    scene.set("a")
    let (third, _) = scene.set("a")

    #expect(scene.settle(first, file: 2) == [])
    let location = scene.index.liveBytes
    #expect(location == 80 && scene.pending("a") === third)

    third.take()
    #expect(scene.settle(third) == [2])
    #expect(scene.index.liveBytes == 80 && scene.index.largeBytes == 0)
  }

  @Test func `a value removed meanwhile does not come back`() throws {
    let first = taken("a")
    scene.remove("a")
    let (second, _) = scene.set("a")

    #expect(scene.settle(first, file: 2) == [2])
    #expect(scene.fail(second) == [])

    #expect(!scene.has("a") && scene.index.liveBytes == 0)
  }

  @Test func `if both fail what was there before is there again`() throws {
    scene.put("a")
    let old = scene.location("a")
    let first = taken("a")
    let (second, _) = scene.set("a")

    #expect(scene.fail(first) == [])
    #expect(scene.pending("a") === second)
    #expect(scene.fail(second) == [])

    #expect(scene.location("a") == old)
  }
}
