import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

@Suite(.timeLimit(.minutes(3))) struct DiskCacheInspectingTests {
  let scene = DiskScene()

  private func stocked() async throws -> DiskCache {
    let cache = scene.open()
    for number in 0..<20 {
      cache.set(Data(repeating: UInt8(number), count: number * 10_000), for: "\(number)")
    }
    try await cache.flush().value
    return cache
  }

  @Test func `contents lists every key and the size of its value, the oldest first`() async throws {
    let cache = try await stocked()
    cache.remove("3")
    _ = try await cache.get("0").value

    let entries = try await cache.contents.collect().value

    let keys = (1..<20).filter { $0 != 3 } + [0]
    #expect(entries.map(\.key) == keys.map(String.init))
    #expect(entries.map(\.byteCount) == keys.map { $0 * 10_000 })
  }

  @Test func `contents of nothing completes`() async throws {
    #expect(try await scene.open().contents.collect().value.isEmpty)
  }

  /// The walk has begun when the writes of its first entry move the others.
  @Test func `a walk finds what is moved in the log meanwhile`() async throws {
    let (isAtFirst, isMoved) = (Watched(false), DispatchSemaphore(value: 0))
    let calls = FaultyCalls { call in
      guard call == .read, isAtFirst.state else { return }
      isAtFirst.change { $0 = false }
      _ = isMoved.wait(timeout: .now() + 60)
    }
    let cache = scene.open(.kibibytes(256), calls)
    for number in 0..<40 { cache.set(Data(count: 2_000), for: "\(number)") }
    try await cache.flush().value

    isAtFirst.change { $0 = true }
    let contents = Recorder<DiskEntry>().subscribe(to: cache.contents)
    try await isAtFirst.wait(for: "the walk") { !$0 }
    let copied = cache.statistics.bytesCopied
    while cache.statistics.bytesCopied < copied + 80_000 {
      try await cache.set(Data(count: 5_000), for: "other").value
    }
    isMoved.signal()

    try await contents.ended()
    #expect(Set(contents.values.map(\.key)).isSuperset(of: (0..<40).map(String.init)))
  }

  @Test func `to dispose of contents ends the walk`() async throws {
    let cache = try await stocked()

    #expect(try await cache.contents.first().value.key == "0")
  }

  @Test func `contains says whether there is a value, written or not`() async throws {
    let cache = try await stocked()
    cache.set(Data("x"), for: "new")
    cache.remove("4")

    #expect(try await cache.contains("new").value)
    #expect(try await cache.contains("5").value)
    #expect(try await !cache.contains("4").value)
    #expect(try await !cache.contains("never").value)
  }

  @Test(arguments: ["1", "19", "never"])
  func `one get is one hit or one miss, by every way of asking`(key: String) async throws {
    let cache = try await stocked()
    let shared = cache.reusingInFlight()

    _ = try await Recorder<Data>().subscribe(to: cache.get(key)).ended()
    // To its end: a running flight would be joined, and the disk not asked.
    _ = try await Recorder<Data>().subscribe(to: shared.get(key)).ended()
    _ = try await shared.get(all: [key, key]).value
    for try await _ in cache.mapKeys({ $0 }).get(key).values {}

    let isThere = key != "never"
    let statistics = await cache.openStatistics()
    #expect(statistics.hits == (isThere ? 4 : 0))
    #expect(statistics.misses == (isThere ? 0 : 4))
  }

  @Test func `a value too old for the get's freshness is a miss, also as a file`() async throws {
    let cache = try await stocked()
    let files = MediaFileLayer<String>(disk: cache) { $0 }

    let young = Freshness.atMost(.seconds(-1))
    #expect(try await cache.get("1", freshness: young).valueIfAny == nil)
    #expect(try await files.get("19", freshness: young).valueIfAny == nil)

    let statistics = await cache.openStatistics()
    #expect(statistics.hits == 0 && statistics.misses == 2)
  }

  @Test(arguments: ["1", "19", "never"])
  func `a get of a file is one hit or one miss`(key: String) async throws {
    let cache = try await stocked()
    cache.set(Data(count: 100_000), for: "pending")

    _ = try await cache.file(for: key).valueIfAny
    _ = try await cache.file(for: "pending").value

    let statistics = await cache.openStatistics()
    #expect(statistics.hits == (key == "never" ? 1 : 2))
    #expect(statistics.misses == (key == "never" ? 1 : 0))
  }

  @Test func `a get whose record is replaced while it is read finds the new value`() async throws {
    let act = Locked<(@Sendable () -> Void)?>(nil)
    let calls = FaultyCalls { if $0 == .read { act.withLock { exchange(&$0, with: nil) }?() } }
    let cache = scene.open(.mebibytes(64), calls)
    try await cache.set(Data("older"), for: "a").value
    let (log, size) = (try #require(scene.segments.first), try scene.log().count)
    calls.inject(.half, of: [.readNow])
    act.withLock {
      $0 = {
        let isWritten = DispatchSemaphore(value: 0)
        cache.set(Data("newer"), for: "a").subscribe(onCompleted: { isWritten.signal() })
        _ = isWritten.wait(timeout: .now() + 30)
        // Damages the record that is about to be read.
        try? self.scene.change(log) { $0.flip(bit: 8 * (size - 1)) }
      }
    }

    #expect(try await cache.get("a").value == Data("newer"))
    #expect(act.withLock { $0 == nil })
  }

  @Test func `a get that fails is neither a hit nor a miss`() async throws {
    let calls = FaultyCalls()
    let cache = scene.open(.mebibytes(64), calls)
    try await cache.set(Data(count: 100_000), for: "large").value
    calls.inject(.error(.EIO), of: [.open])

    #expect(try await failure(of: cache.get("large"))?.systemError == .EIO)

    #expect(cache.statistics.hits == 0 && cache.statistics.misses == 0)
  }

  @Test func `statistics count gets and writes`() async throws {
    let cache = try await stocked()
    _ = try await cache.get("1").value
    _ = try await cache.get("19").value
    _ = try await cache.get("never").valueIfAny

    let statistics = await cache.openStatistics()
    #expect(statistics.hits == 2 && statistics.misses == 1)
    #expect(statistics.insertions == 20 && statistics.evictions == 0)
    #expect(statistics.bytesWritten >= (0..<20).reduce(0) { $0 + $1 * 10_000 })
  }

  // MARK: - Synchronized

  @Test func `one synchronization serves all that wait for it`() async throws {
    let gate = DispatchSemaphore(value: 0)
    let reached = Watched(0)
    let calls = FaultyCalls { call in
      guard call == .synchronize else { return }
      reached.change { $0 += 1 }
      if reached.state == 1 { _ = gate.wait(timeout: .now() + 30) }
    }
    let cache = scene.open(.mebibytes(8), calls)
    cache.set(Data("a"), for: "a")
    let first = Recorder<Void>().subscribe(to: cache.flush(.synchronized))
    // The first one is under way, and holds the others up.
    try await reached.wait(for: "the first") { $0 == 1 }
    cache.set(Data("b"), for: "b")
    let others = (0..<50).map { _ in Recorder<Void>().subscribe(to: cache.flush(.synchronized)) }

    gate.signal()

    try await first.ended()
    for other in others { try await other.ended() }
    // Each time the segment and the folder.
    #expect(calls.count(.synchronize) <= 6)
  }

  @Test func `a synchronization that fails says so, and the next one tries again`() async throws {
    let calls = FaultyCalls()
    let cache = scene.open(.mebibytes(8), calls)
    cache.set(Data(count: 100_000), for: "a")
    try await cache.flush().value
    calls.inject(.error(.EIO), of: [.synchronize])

    #expect(try await failure(of: cache.flush(.synchronized))?.systemError == .EIO)
    let count = calls.count(.synchronize)
    try await cache.flush(.synchronized).value

    // The file, the segment, the folder, and the mark that is new.
    #expect(calls.count(.synchronize) == count + 4)
  }

  @Test(arguments: [true, false])
  func `a replaced file is removed only after its successor has reached the device`(
    isRelied: Bool
  ) async throws {
    let order = Locked([FaultyCalls.Call]())
    let calls = FaultyCalls { call in
      if call == .synchronize || call == .remove { order.withLock { $0.append(call) } }
    }
    let cache = scene.open(.mebibytes(8), calls)
    cache.set(Data(count: 100_000), for: "a")
    try await cache.flush(isRelied ? .synchronized : .written).value
    order.withLock { $0 = [] }

    cache.set(Data(count: 200_000), for: "a")
    try await cache.flush().value

    // The new file, the segment and the folder; then the old file goes.
    let synchronized = Array(repeating: FaultyCalls.Call.synchronize, count: isRelied ? 3 : 0)
    #expect(order.withLock { $0 } == synchronized + [.remove])
  }
}
