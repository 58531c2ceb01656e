import Dispatch
import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

@testable import Millpond

/// Removals of everything, which leave no byte behind.
@Suite struct DiskCacheErasingTests {
  let scene = DiskScene()
  private let mark = Data("former user's".utf8)

  private func value(_ byteCount: Int = 100) -> Data {
    mark + Data(repeating: 7, count: byteCount)
  }

  /// The files that contain anything of the former user.
  private var traces: [String] {
    scene.names.filter { name in
      let bytes = try? Data(contentsOf: scene.url(name))
      return bytes?.range(of: mark) != nil
    }
  }

  @Test(arguments: [Int.mebibytes(1), .mebibytes(256)])
  func `when its outcome succeeds nothing is left in any file`(byteLimit: Int) async throws {
    let cache = scene.open(byteLimit)
    for number in 0..<100 { cache.set(value(2_000), for: "\(number)") }
    cache.set(value(200_000), for: "large")
    for number in 0..<50 { cache.remove("\(number)") }
    cache.set(value(), for: "99")
    try await cache.storing(.just(value(300_000)), for: "streamed").value
    try await cache.flush().value
    let before = traces

    try await cache.removeAll().value

    #expect(!before.isEmpty)
    #expect(traces == [])
    try await cache.close().value
    #expect(traces == [])
  }

  @Test func `the hashes of keys that the last closing has left go too`() async throws {
    try await scene.fill { $0.set(value(), for: "a key") }
    #expect(scene.exists(scene.url(.index)))
    let calls = FaultyCalls()
    let cache = scene.open(.mebibytes(64), calls)
    _ = await cache.openStatistics()

    // A process that dies before the segments are removed.
    calls.inject(.death(isHalfDone: false), after: 1, of: [.remove])
    #expect(try await failure(of: cache.removeAll()) != nil)
    _ = try? await cache.close().value
    let again = scene.open()
    #expect(try await again.count.value == 0)
    try await again.removeAll().value

    #expect(!scene.exists(scene.url(.index)))
    #expect(traces == [])
    try await again.close().value
  }

  @Test func `a stream that begins while everything is being removed is kept`() async throws {
    let (isSweeping, isMade) = (Locked(false), DispatchSemaphore(value: 0))
    let begin = Locked<(@Sendable () -> Void)?>(nil)
    let calls = FaultyCalls { call in
      if call == .make, isSweeping.withLock({ $0 }) { isMade.signal() }
      guard call == .names, let begin = begin.withLock({ exchange(&$0, with: nil) }) else { return }
      isSweeping.withLock { $0 = true }
      begin()
      isMade.wait()
    }
    let cache = scene.open(.mebibytes(64), calls)
    try await cache.set(value(), for: "former").value
    let (parts, stored) = (PublishSubject<Data>(), Recorder<Void>())
    let next = Data(repeating: 9, count: 300_000)
    begin.withLock {
      $0 = {
        stored.subscribe(to: cache.storing(parts.signal, for: "next"))
        parts.next(next)
      }
    }

    try await cache.removeAll().value
    parts.completed()
    try await stored.ended()

    #expect(stored.failure == nil)
    #expect(try await cache.get("next").value == next)
    #expect(traces == [])
  }

  @Test func `values of the next user stay`() async throws {
    let cache = scene.open()
    for number in 0..<100 { cache.set(value(70_000), for: "\(number)") }
    try await cache.flush().value

    let outcome = cache.removeAll()
    cache.set(Data("next user's".utf8), for: "1")
    cache.set(Data(repeating: 9, count: 100_000), for: "2")
    try await outcome.value
    try await cache.flush().value

    #expect(traces == [])
    try await cache.close().value
    let reopened = scene.open()
    #expect(try await reopened.get("1").value == Data("next user's".utf8))
    #expect(try await reopened.get("2").value.count == 100_000)
    #expect(try await reopened.get("3").valueIfAny == nil)
    try await reopened.close().value
  }

  @Test func `a removal that a later set has overtaken leaves that set, and no byte of the others`()
    async throws
  {
    let cache = scene.open()
    for number in 0..<600 { cache.set(value(number < 5 ? 70_000 : 100), for: "\(number)") }
    try await cache.flush().value
    cache.set(value(100), for: "waiting")
    let revision = Revision.next()
    cache.set(Data("next user's".utf8), for: "1")

    let outcome = cache.apply(.removeAll(revision))
    #expect(try await cache.count.value == 1)
    #expect(try await cache.get("3").valueIfAny == nil)
    try await outcome.value

    #expect(traces == [])
    try await cache.close().value
    let reopened = scene.open()
    #expect(try await reopened.get("1").value == Data("next user's".utf8))
    #expect(try await reopened.count.value == 1)
    try await reopened.close().value
  }

  @Test func `the bytes of a value that is just being streamed go at once, and it is not kept`()
    async throws
  {
    let cache = scene.open()
    let pieces = TestSource<Data>()
    let stored = Recorder<Void>().subscribe(to: cache.storing(pieces.signal, for: "film"))
    try await pieces.subscriptions(count: 1)
    pieces.next(value(300_000))
    // So large that the sender waits until it is written.
    pieces.next(value(3_000_000))
    #expect(traces != [])

    try await cache.removeAll().value
    #expect(traces == [])

    pieces.next(value(300_000))
    pieces.completed()
    try await stored.ended()
    #expect(traces == [])
    #expect(try await cache.get("film").valueIfAny == nil)
    try await cache.close().value
  }

  @Test func `a stream that is given up lets the outcome succeed`() async throws {
    let cache = scene.open()
    let pieces = TestSource<Data>()
    let subscription = cache.storing(pieces.signal, for: "film").subscribe(onNext: { _ in })
    try await pieces.subscriptions(count: 1)
    pieces.next(value(300_000))
    let outcome = Recorder<Void>().subscribe(to: cache.removeAll())

    subscription.dispose()
    try await outcome.ended()

    #expect(outcome.values.count == 1)
    #expect(traces == [])
    try await cache.close().value
  }

  @Test func `a stream that began before a removal of its key or of everything is not kept`()
    async throws
  {
    let cache = scene.open()
    let pieces = TestSource<Data>()
    let films = ["a", "b"].map {
      Recorder<Void>().subscribe(to: cache.storing(pieces.signal, for: $0))
    }
    try await pieces.subscriptions(count: 2)
    pieces.next(value())
    cache.remove("a")
    cache.set(Data("set".utf8), for: "b")

    pieces.completed()
    for film in films { try await film.ended() }

    #expect(try await cache.get("a").valueIfAny == nil)
    #expect(try await cache.get("b").value == Data("set".utf8))
    try await cache.close().value
  }

  @Test func `a file that the program holds stays until it is released`() async throws {
    let cache = scene.open()
    cache.set(value(200_000), for: "film")
    try await cache.flush().value
    var film: DiskFile? = try await cache.file(for: "film").value
    let url = try #require(film?.url)

    try await cache.removeAll().value
    let held = try Data(contentsOf: url)
    film = nil
    try await cache.flush().value

    #expect(held.count == mark.count + 200_000)
    #expect(film == nil)
    #expect(traces == [])
    try await cache.close().value
  }

  @Test func `a disk that removes nothing fails the outcome, and a later removal succeeds`()
    async throws
  {
    let calls = FaultyCalls()
    let cache = scene.open(.mebibytes(64), calls)
    cache.set(value(), for: "a")
    cache.set(value(200_000), for: "large")
    try await cache.flush().value
    calls.inject(.error(.EIO), of: [.remove], count: 1_000)

    await #expect(throws: (any Error).self) { try await cache.removeAll().value }
    let isMiss = try await cache.get("a").valueIfAny == nil
    calls.recover()
    try await cache.removeAll().value

    #expect(isMiss)
    #expect(traces == [])
    try await cache.close().value
  }

  @Test(.heavy, arguments: [true, false])
  func
    `a process that dies at any moment leaves nothing after the outcome, and the rest to a second removal`(
      isHalfDone: Bool
    ) async throws
  {
    var successes = 0
    for step in 0..<60 {
      let scene = DiskScene()
      let calls = FaultyCalls()
      let cache = scene.open(.mebibytes(64), calls)
      for number in 0..<20 { cache.set(value(5_000), for: "\(number)") }
      cache.set(value(100_000), for: "large")
      try await cache.flush().value
      calls.inject(.death(isHalfDone: isHalfDone), after: step, of: FaultyCalls.Call.effects)

      let hasSucceeded = (try? await cache.removeAll().value) != nil
      calls.die()
      _ = try? await cache.close().value
      if hasSucceeded {
        successes += 1
        #expect(try traces(in: scene) == [])
      }
      let reopened = scene.open()
      let values = try await reopened.contents.collect().value.count
      #expect([0, 21].contains(values), "step \(step)")
      if values == 0 {
        try await reopened.flush().value
        #expect(try traces(in: scene) == [], "step \(step)")
      }
      try await reopened.removeAll().value
      #expect(try traces(in: scene) == [], "step \(step)")
      try await reopened.close().value
    }

    #expect((1..<60).contains(successes))
  }

  private func traces(in scene: DiskScene) throws -> [String] {
    try scene.names.filter { try Data(contentsOf: scene.url($0)).range(of: mark) != nil }
  }
}
