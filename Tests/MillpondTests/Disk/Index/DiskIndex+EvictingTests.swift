import Foundation
import MillpondCore
import Testing

@testable import Millpond

/// Limits, leases and the contents at an opening.
@Suite struct DiskIndexEvictingTests {
  // MARK: - The limit

  @Test func `the least recently used entry is evicted`() {
    let scene = IndexScene(costLimit: 300)
    for key in ["a", "b", "c"] { scene.set(key) }
    _ = scene.index.find(KeyHash(of: "a"))
    _ = scene.index.peek(KeyHash(of: "b"))

    let (_, consequence) = scene.set("d")

    #expect(consequence.evicted.map(\.key) == ["b"])
    #expect(scene.keys(of: ["a", "b", "c", "d"]) == ["c", "a", "d"])
    #expect(scene.index.statistics.evictions == 1)
  }

  @Test(arguments: [3_001, Int.max])
  func `a value larger than the limit is rejected, and only its own key's value goes`(cost: Int) {
    let scene = IndexScene(costLimit: 3_000)
    for key in ["a", "b"] { scene.put(key, file: key == "a" ? 8 : nil) }

    let (_, consequence) = scene.set("a", cost: cost)

    #expect(!consequence.isKept && consequence.isToBeWritten)
    #expect(consequence.files == [8])
    #expect(!scene.has("a") && scene.has("b"))
    #expect(scene.index.statistics.rejections == 1)
  }

  @Test func `after a rejection an earlier write comes too late`() {
    let scene = IndexScene(costLimit: 300)
    let early = Revision.next()
    scene.set("a", cost: 301)

    #expect(!scene.set("a", early).1.isToBeWritten)
  }

  @Test(arguments: [EvictionPolicy.leastRecentlyUsed, .adaptive, .adaptivePreferringSmall])
  func `the limit holds after every write, and nothing is counted twice`(
    policy: EvictionPolicy
  ) {
    let scene = IndexScene(costLimit: 5_000, policy)
    var random = SeededNumbers(3)
    var waiting: [DiskWrite] = []

    for _ in 0..<5_000 {
      let key = "\(random.next(60))"
      switch random.next(10) {
      case 0: scene.remove(key)
      case 1...5:
        let (write, consequence) = scene.set(key, cost: 100 + random.next(900))
        if consequence.isToBeWritten, consequence.isKept { waiting.append(write) }
      case 6:
        if let write = waiting.popLast() { _ = scene.fail(write) }
      case 7: _ = scene.index.find(KeyHash(of: key))
      default:
        // A written value costs 164, and no pending write costs less.
        if !waiting.isEmpty { scene.settle(waiting.removeFirst()) }
      }
      #expect(scene.index.totalCost <= 5_000 + 64)
    }

    var (cost, live, count) = (0, 0, 0)
    scene.index.forEach { _, finding in
      count += 1
      if case .location(let location) = finding {
        cost += DiskLimits.cost(recordSize: Int(location.size), large: 0)
      }
    }
    for entry in scene.index.entries { live += Int(entry.location.size) }
    #expect(scene.index.count == count)
    #expect(scene.index.liveBytes == live)
    #expect(scene.index.totalCost >= cost)
  }

  @Test func `memory grows with what is kept, not with how many keys there have been`() {
    let scene = IndexScene(costLimit: 400)

    for number in 0..<1_000 {
      scene.set("\(number)")
      if number % 3 == 0 { scene.remove("\(number)") }
    }

    #expect(scene.index.count == 3)
    #expect(scene.index.hashes.count <= 5)
  }

  @Test func `a sealed value that is larger than it was counts as it is`() {
    let scene = IndexScene()
    let (write, _) = scene.set("a", cost: 1)

    scene.settle(write, file: 5)

    #expect(scene.index.totalCost == DiskLimits.cost(recordSize: 80, large: 1_000))
    #expect(scene.index.largeBytes == 1_000)
  }

  // MARK: - Leases

  private let large = FileValue(number: 5, length: 1_000, checksum: 0)

  @Test func `a file in use is removed when it is returned`() {
    let scene = IndexScene()
    scene.put("a", file: 5)
    #expect(scene.lease("a", large))
    #expect(scene.lease("a", large))

    #expect(scene.remove("a").files == [])

    #expect(!scene.giveBack(5))
    #expect(scene.giveBack(5))
    #expect(!scene.giveBack(5))
  }

  @Test func `a file that an entry needs is kept at the end of its lease`() {
    let scene = IndexScene()
    scene.put("a", file: 5)
    #expect(scene.lease("a", large))

    #expect(!scene.giveBack(5))
    #expect(scene.remove("a").files == [5])
  }

  @Test func `an absent file can't be leased`() {
    let scene = IndexScene()
    scene.put("a", file: 4)

    #expect(!scene.lease("a", large))
    #expect(!scene.lease("b", large))
    #expect(!scene.giveBack(5))
  }

  @Test func `a file in use is not evicted`() {
    let cost = DiskLimits.cost(recordSize: 80, large: 1_000)
    let scene = IndexScene(costLimit: 3 * cost)
    for (key, file) in [("a", 5), ("b", 6), ("c", 7)] {
      scene.put(key, cost: cost, file: UInt64(file))
    }
    #expect(scene.lease("a", large))

    let (_, consequence) = scene.set("d", cost: cost)

    #expect(consequence.files == [6])
    #expect(scene.has("a"))
  }

  @Test func `if all are held nothing is taken in, and no try is without end`() {
    let cost = DiskLimits.cost(recordSize: 80, large: 1_000)
    let scene = IndexScene(costLimit: cost)
    scene.put("a", cost: cost, file: 5)
    #expect(scene.lease("a", large))

    let (_, consequence) = scene.set("b", cost: cost)

    #expect(!consequence.isKept)
    #expect(scene.has("a") && !scene.has("b"))
  }

  // MARK: - Opening

  @Test func `of what is loaded the later record of a key counts`() {
    let scene = IndexScene()
    let hash = KeyHash(of: "a")
    let (first, second) = (scene.nextLocation(), scene.nextLocation(size: 200))

    scene.index.load(hash, first, large)
    scene.index.load(hash, second, nil)

    #expect(scene.location("a") == second)
    #expect(scene.index.liveBytes == 200 && scene.index.largeBytes == 0)
    #expect(scene.index.totalCost == DiskLimits.cost(recordSize: 200, large: 0))
    #expect(scene.finishLoading(files: [5]) == [])
  }

  @Test func `an entry whose file is missing is dropped`() {
    let scene = IndexScene()
    for (key, number) in [("a", UInt64(5)), ("b", 6)] {
      let value = FileValue(number: number, length: 1_000, checksum: 0)
      scene.index.load(KeyHash(of: key), scene.nextLocation(), value)
    }

    #expect(scene.finishLoading(files: [6, 7]) == [6])

    #expect(!scene.has("a") && scene.has("b"))
    #expect(scene.index.largeBytes == 1_000)
  }

  @Test func `entries loaded beyond the limit stay until a set, which evicts the earliest`() {
    let cost = DiskLimits.cost(recordSize: 80, large: 0)
    let scene = IndexScene(costLimit: 2 * cost)
    for key in ["a", "b", "c"] { scene.index.load(KeyHash(of: key), scene.nextLocation(), nil) }

    _ = scene.finishLoading(files: [])
    #expect(scene.index.totalCost == 3 * cost)
    _ = scene.set("c", cost: cost)

    #expect(scene.keys(of: ["a", "b", "c"]) == ["b", "c"])
    #expect(scene.index.totalCost == 2 * cost)
  }

  @Test func `an entry that was found removed is absent`() {
    let scene = IndexScene()
    for key in ["a", "b", "c"] { scene.index.load(KeyHash(of: key), scene.nextLocation(), nil) }

    scene.index.unload(KeyHash(of: "a"))
    scene.index.unload(KeyHash(of: "x"))
    #expect(scene.index.count == 2)
    scene.index.unloadAll()

    #expect(scene.index.count == 0 && scene.index.liveBytes == 0)
  }
}
