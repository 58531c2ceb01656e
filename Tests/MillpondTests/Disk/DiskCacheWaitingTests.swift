import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// Pending writes, and the callers that wait for them.
@Suite(.timeLimit(.minutes(3))) struct DiskCacheWaitingTests {
  let scene = DiskScene()

  /// Returns a cache whose writing stops at the first byte, until the gate is opened.
  private func heldCache(
    _ change: (inout DiskOptions) -> Void = { _ in }
  ) async -> (DiskCache, gate: DispatchSemaphore, hasBegun: Watched<Bool>) {
    let (gate, hasBegun) = (DispatchSemaphore(value: 0), Watched(false))
    let calls = FaultyCalls { call in
      guard call == .write, !hasBegun.state else { return }
      hasBegun.change { $0 = true }
      _ = gate.wait(timeout: .now() + 10)
    }
    let cache = scene.open(.mebibytes(1), calls, change)
    // Callers that wait for the opening are served before the cache sees its end.
    _ = await cache.openStatistics()
    return (cache, gate, hasBegun)
  }

  @Test func `a pending value arrives inside the subscription`() async throws {
    let (cache, gate, hasBegun) = await heldCache()
    cache.set(Data("x"), for: "a")
    try await hasBegun.wait(for: "the writing") { $0 }

    let recorder = Recorder<Data>().subscribe(to: cache.get("a"))

    #expect(recorder.values == [Data("x")] && recorder.isCompleted)
    gate.signal()
    try await cache.flush().value
  }

  @Test func `a burst while the disk is slow loses no write, and waits for nothing`() async throws {
    let (cache, gate, hasBegun) = await heldCache { $0.byteLimit = .mebibytes(128) }
    cache.set(Data("first"), for: "first")
    try await hasBegun.wait(for: "the writing") { $0 }

    // More than the cache of a peer lets wait; each value is a part of the same memory.
    let value = Data(count: 60_000)
    let outcomes = (0..<1_200).map { cache.set(value, for: "\($0)") }
    gate.signal()

    for outcome in outcomes { try await outcome.value }
    for number in 0..<1_200 { #expect(try await cache.get("\(number)").value.count == 60_000) }
  }

  @Test func `the values that wait to be written never exceed the cache's limit`() async throws {
    let (cache, gate, hasBegun) = await heldCache()
    cache.set(Data("first"), for: "first")
    try await hasBegun.wait(for: "the writing") { $0 }
    let store = try #require(cache.access.store)

    for number in 0..<100 {
      cache.set(Data(count: 50_000), for: "\(number)")
      cache.set(Data(count: 40_000), for: "the same")
      #expect(store.state.withLock { $0.queue.waitingBytes } <= 1 << 20)
    }
    gate.signal()
    try await cache.flush().value

    #expect(store.state.withLock { $0.queue.waitingBytes } == 0)
    #expect(try await cache.get("the same").value == Data(count: 40_000))
    #expect(try await cache.get("99").value == Data(count: 50_000))
  }

  @Test func `a flush waits for every earlier write`() async throws {
    let cache = scene.open()
    for number in 0..<100 { cache.set(Data("<\(number)>"), for: "\(number)") }

    try await cache.flush().value

    let log = try scene.log()
    for number in 0..<100 { #expect(log.range(of: Data("<\(number)>")) != nil) }
  }

  @Test func `writes from before the release of the cache are on disk`() async throws {
    scene.open().set(Data("x"), for: "a")

    #expect(try await scene.open().get("a").value == Data("x"))
  }
  @Test func `a flush to the device succeeds, again and again`() async throws {
    let calls = FaultyCalls()
    let cache = scene.open(.mebibytes(1), calls)
    cache.set(Data("x"), for: "a")
    cache.set(Data(count: 70_000), for: "b")

    try await cache.flush(.synchronized).value
    // The value's file, the segment, the folder, and the mark that is new.
    #expect(calls.count(.synchronize) == 4)
    // All is there.
    try await cache.flush(.synchronized).value
    #expect(calls.count(.synchronize) == 4)
  }

  @Test func `a mark that the device refuses is synchronized by the next flush`() async throws {
    let calls = FaultyCalls()
    let cache = scene.open(.mebibytes(1), calls)
    cache.set(Data("x"), for: "a")
    calls.inject(.error(.EIO), after: 2, of: [.synchronize])

    #expect(try await failure(of: cache.flush(.synchronized))?.systemError == .EIO)
    let count = calls.count(.synchronize)
    try await cache.flush(.synchronized).value

    // The segment, the folder and the mark.
    #expect(calls.count(.synchronize) == count + 3)
  }

  @Test func `a flush to the device waits for a value that was streamed`() async throws {
    let calls = FaultyCalls()
    let cache = scene.open(.mebibytes(8), calls)
    try await cache.storing(.just(Data(count: 300_000)), for: "a").value

    try await cache.flush(.synchronized).value

    // The value's file, the segment, the folder, and the mark that is new.
    #expect(calls.count(.synchronize) == 4)
  }

  @Test func `a flush to the device covers what an earlier run has left in the system`()
    async throws
  {
    try await scene.fill { cache in
      cache.set(Data("x"), for: "a")
      cache.set(Data(count: 70_000), for: "b")
    }
    let calls = FaultyCalls()

    try await scene.open(.mebibytes(1), calls).flush(.synchronized).value

    // The value's file, the segment and the folder, and perhaps the mark.
    #expect(3...4 ~= calls.count(.synchronize))
  }

  @Test func `a flush that the device refuses fails, and the next one tries it all`() async throws {
    let calls = FaultyCalls()
    let cache = scene.open(.mebibytes(1), calls)
    cache.set(Data("x"), for: "a")
    try await cache.flush().value
    calls.inject(.error(.EIO), of: [.synchronize])

    #expect(try await failure(of: cache.flush(.synchronized))?.systemError == .EIO)
    try await cache.flush(.synchronized).value

    #expect(calls.count(.synchronize) == 4)
  }
}
