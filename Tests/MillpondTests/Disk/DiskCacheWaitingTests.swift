import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// What waits to be written, and who waits for it.
@Suite(.timeLimit(.minutes(3))) struct DiskCacheWaitingTests {
  let scene = DiskScene()

  /// A cache whose writing stops at the first byte, until the gate is opened.
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
    // Those who wait for the opening are served before the cache knows of it.
    _ = await cache.openStatistics()
    return (cache, gate, hasBegun)
  }

  @Test func `what waits to be written arrives inside the subscription`() async throws {
    let (cache, gate, hasBegun) = await heldCache()
    cache.set(Data("x"), for: "a")
    try await hasBegun.wait(for: "the writing") { $0 }

    let recorder = Recorder<Data>().subscribe(to: cache.get("a"))

    #expect(recorder.values == [Data("x")] && recorder.isCompleted)
    gate.signal()
    try await cache.flush().value
  }

  @Test func `what is told while too much waits fails, and the old value is kept`() async throws {
    let (cache, gate, hasBegun) = await heldCache { $0.queueLimit = 100 }
    cache.set(Data("old"), for: "a")
    try await hasBegun.wait(for: "the writing") { $0 }
    let fitting = cache.set(Data(count: 90), for: "b")

    let error = try await failure(of: cache.set(Data(count: 90), for: "a"))

    #expect(error?.isOverloaded == true)
    #expect(try await cache.get("a").value == Data("old"))
    gate.signal()
    try await fitting.value
    try await cache.set(Data(count: 90), for: "a").value
  }

  @Test func `a value that is alone may be larger than what may wait`() async throws {
    let cache = scene.open(.mebibytes(1), POSIXCalls()) { $0.queueLimit = 10 }

    try await cache.set(Data(count: 1_000), for: "a").value
  }

  @Test func `a flush waits for everything that was told before`() async throws {
    let cache = scene.open()
    for number in 0..<100 { cache.set(Data("<\(number)>"), for: "\(number)") }

    try await cache.flush().value

    let log = try scene.log()
    for number in 0..<100 { #expect(log.range(of: Data("<\(number)>")) != nil) }
  }

  @Test func `what was told before the cache was released is written`() async throws {
    scene.open().set(Data("x"), for: "a")

    #expect(try await scene.open().get("a").value == Data("x"))
  }
  @Test func `a flush to the device succeeds, again and again`() async throws {
    let calls = FaultyCalls()
    let cache = scene.open(.mebibytes(1), calls)
    cache.set(Data("x"), for: "a")
    cache.set(Data(count: 70_000), for: "b")

    try await cache.flush(.synchronized).value
    // The value's file, the segment and the folder.
    #expect(calls.count(.synchronize) == 3)
    try await cache.flush(.synchronized).value
    #expect(calls.count(.synchronize) == 4)
  }

  @Test func `a flush to the device waits for a value that was streamed`() async throws {
    let calls = FaultyCalls()
    let cache = scene.open(.mebibytes(8), calls)
    try await cache.storing(.just(Data(count: 300_000)), for: "a").value

    try await cache.flush(.synchronized).value

    // The value's file, the segment and the folder.
    #expect(calls.count(.synchronize) == 3)
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

    // The value's file, the segment and the folder.
    #expect(calls.count(.synchronize) == 3)
  }

  @Test func `a flush that the device refuses fails, and the next one tries it all`() async throws {
    let calls = FaultyCalls()
    let cache = scene.open(.mebibytes(1), calls)
    cache.set(Data("x"), for: "a")
    try await cache.flush().value
    calls.inject(.error(.EIO), of: [.synchronize])

    #expect(try await failure(of: cache.flush(.synchronized))?.systemError == .EIO)
    try await cache.flush(.synchronized).value

    #expect(calls.count(.synchronize) == 3)
  }
}
