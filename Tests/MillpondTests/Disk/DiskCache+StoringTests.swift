import Dispatch
import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

@Suite(.timeLimit(.minutes(3))) struct DiskCacheStoringTests {
  let scene = DiskScene()

  private func pieces(_ sizes: [Int]) -> [Data] {
    sizes.enumerated().map { Data(repeating: UInt8($0 % 251), count: $1) }
  }

  @Test(arguments: [
    [], [0], [10], [65_535], [65_536], [262_144], [262_145], [1, 262_144, 1],
    [100_000, 100_000, 100_000], [700_000], Array(repeating: 1_000, count: 400),
    [2 << 20], [(2 << 20) + 1], [1, 9 << 20, 1], [40 << 20],
  ])
  func `pieces become one value, which survives a restart`(sizes: [Int]) async throws {
    let cache = scene.open()
    let pieces = pieces(sizes)

    try await cache.storing(Signal.from(pieces), for: "a").value

    #expect(try await cache.get("a").value == pieces.reduce(Data(), +))
    try await cache.close().value
    #expect(try await scene.open().get("a").value == pieces.reduce(Data(), +))
  }

  @Test func `until the pieces have completed, the old value is there`() async throws {
    let cache = scene.open()
    let source = TestSource<Data>()
    cache.set(Data("old"), for: "a")

    let outcome = Recorder<Void>().subscribe(to: cache.storing(source.signal, for: "a"))
    try await source.subscriptions(count: 1)
    source.next(Data(count: 300_000))
    #expect(try await cache.get("a").value == Data("old"))
    source.next(Data(count: 300_000))
    source.completed()

    try await outcome.ended()
    #expect(outcome.failure == nil)
    #expect(try await cache.get("a").value == Data(count: 600_000))
  }

  @Test func `pieces that fail leave the old value, and no file`() async throws {
    struct Broken: Error {}
    let cache = scene.open()
    cache.set(Data("old"), for: "a")
    let source = TestSource<Data>()

    let outcome = Recorder<Void>().subscribe(to: cache.storing(source.signal, for: "a"))
    try await source.subscriptions(count: 1)
    source.next(Data(count: 300_000))
    source.failed(Broken())

    try await outcome.ended()
    #expect(outcome.failure is Broken)
    #expect(try await cache.get("a").value == Data("old"))
    #expect(scene.valueFiles.isEmpty)
  }

  @Test func `a caller that leaves leaves no file`() async throws {
    let cache = scene.open()
    let source = TestSource<Data>()
    let subscription = cache.storing(source.signal, for: "a").subscribe(onNext: {})
    try await source.subscriptions(count: 1)
    source.next(Data(count: 300_000))

    subscription.dispose()

    try await source.disposals(count: 1)
    // The stream's own thread removes the file without any report.
    while !scene.valueFiles.isEmpty {
      try Task.checkCancellation()
      await Task.yield()
    }
    #expect(try await cache.get("a").valueIfAny == nil)
  }

  @Test(arguments: [2_000_000, (2 << 20) + 1, 64 << 20])
  func `a file larger than the limit fails, and what was stored stays`(size: Int) async throws {
    let cache = scene.open(1_000_000)
    cache.set(Data("old"), for: "a")
    let source = TestSource<Data>()

    let outcome = Recorder<Void>().subscribe(to: cache.storing(source.signal, for: "a"))
    try await source.subscriptions(count: 1)
    source.next(Data(count: size))

    try await outcome.ended()
    #expect(outcome.failure?.isTooLarge == true)
    try await source.disposals(count: 1)
    #expect(try await cache.get("a").value == Data("old"))
    #expect(scene.valueFiles.isEmpty)
  }

  @Test(arguments: [POSIXErrorCode.ENOSPC, .EIO])
  func `a stream that cannot be written fails, and leaves no file`(
    code: POSIXErrorCode
  ) async throws {
    let calls = FaultyCalls()
    let cache = scene.open(.mebibytes(8), calls)
    cache.set(Data("old"), for: "a")
    try await cache.flush().value
    calls.inject(.error(code), after: 1, of: [.write])

    let outcome = cache.storing(Signal.from(pieces([300_000, 300_000])), for: "a")

    #expect(try await failure(of: outcome)?.systemError == code)
    #expect(try await cache.get("a").value == Data("old"))
    #expect(scene.valueFiles.isEmpty)
  }

  @Test func `progress passes through`() async throws {
    let cache = scene.open()
    let source = TestSource<Data>()
    let outcome = Recorder<Void>().subscribe(to: cache.storing(source.signal, for: "a"))
    try await source.subscriptions(count: 1)

    source.progress(SignalProgress(completed: 1, total: 2))
    source.completed()

    try await outcome.ended()
    #expect(outcome.progress == [SignalProgress(completed: 1, total: 2)])
    #expect(try await cache.get("a").value == Data())
  }

  @Test(arguments: [true, false])
  func `a callback may send a piece larger than what may wait, and give the stream up`(
    givesUp: Bool
  ) async throws {
    let cache = scene.open()
    let source = TestSource<Data>()
    let isCalled = Watched(false)
    let bag = DisposableBag()
    let large = Data(repeating: 1, count: 5 << 20)
    cache.storing(source.signal, for: "a").subscribe(onProgress: { _ in
      source.next(large)
      if givesUp { bag.dispose() }
      isCalled.change { $0 = true }
    }).disposed(by: bag)
    try await source.subscriptions(count: 1)

    source.progress(SignalProgress(completed: 0, total: nil))
    try await isCalled.wait(for: "the callback") { $0 }

    if givesUp { return try await source.disposals(count: 1) }
    source.completed()
    while try await cache.get("a").valueIfAny != large {
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  @Test func `a streamed value that is overtaken before it is written leaves no file`()
    async throws
  {
    let (gate, reached) = (DispatchSemaphore(value: 0), Watched(false))
    // The writer is held at its first write, so that the rest waits.
    let calls = FaultyCalls { call in
      guard call == .write, !reached.state else { return }
      reached.change { $0 = true }
      _ = gate.wait(timeout: .now() + 30)
    }
    let cache = scene.open(.mebibytes(8), calls)
    cache.set(Data("first"), for: "first")
    try await reached.wait(for: "the writer") { $0 }
    let streamed = Recorder<Void>().subscribe(
      to: cache.storing(Signal.from(pieces([300_000])), for: "a"))
    while try await !cache.contains("a").value {
      try Task.checkCancellation()
      await Task.yield()
    }
    #expect(scene.valueFiles.count == 1)

    cache.set(Data("later"), for: "a")
    gate.signal()

    try await streamed.ended()
    try await cache.flush().value
    #expect(try await cache.get("a").value == Data("later"))
    #expect(scene.valueFiles.isEmpty)
  }

  @Test func `an observer hears of progress and of the end one after the other`() async throws {
    let cache = scene.open()
    for _ in 0..<30 {
      let source = TestSource<Data>()
      let (calls, overlaps) = (Locked(0), Locked(0))
      let ended = Watched(false)
      let subscription = cache.storing(source.signal, for: "a").subscribe { event in
        let isAlone = calls.withLock { calls in
          defer { calls += 1 }
          return calls == 0
        }
        if !isAlone { overlaps.withLock { $0 += 1 } }
        for _ in 0..<1_000 where isAlone { sched_yield() }
        calls.withLock { $0 -= 1 }
        if event.isTerminal { ended.change { $0 = true } }
      }
      try await source.subscriptions(count: 1)
      async let progress: Void = onThreads(1) { _ in
        for number in 0..<20 { source.progress(SignalProgress(completed: number, total: 20)) }
      }
      try await onThreads(1) { _ in
        for number in 0..<20 { source.progress(SignalProgress(completed: number, total: 20)) }
        source.failed(CancellationError())
      }
      try await progress
      try await ended.wait(for: "the end") { $0 }
      subscription.dispose()
      #expect(overlaps.withLock { $0 } == 0)
    }
  }
}
