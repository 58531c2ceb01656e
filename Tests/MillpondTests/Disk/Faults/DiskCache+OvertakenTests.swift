import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// A value that is overtaken by a later one while it is written.
@Suite(.timeLimit(.minutes(3))) struct DiskCacheOvertakenTests {
  let scene = DiskScene()

  /// A cache whose writing waits before the first byte of "second".
  private final class Held: Sendable {
    let hasBegun = Watched(false)
    private let isHeld = Watched(false)
    private let gate = DispatchSemaphore(value: 0)

    func calls() -> FaultyCalls {
      FaultyCalls { call in
        guard call == .write, self.isHeld.state else { return }
        self.isHeld.change { $0 = false }
        self.hasBegun.change { $0 = true }
        _ = self.gate.wait(timeout: .now() + 10)
      }
    }

    func hold() {
      isHeld.change { $0 = true }
    }

    func letGo() {
      gate.signal()
    }
  }

  private func value(_ text: String, _ count: Int) -> Data {
    Data(text) + Data(count: count)
  }

  @Test(arguments: [0, 70_000])
  func `a value that was written stays when what overtook it can't be`(count: Int) async throws {
    let held = Held()
    let calls = held.calls()
    let cache = scene.open(.mebibytes(1), calls)
    try await cache.set(value("first", count), for: "a").value
    held.hold()
    let second = cache.set(value("second", count), for: "a")
    try await held.hasBegun.wait(for: "the writing") { $0 }

    let third = cache.set(value("third", count), for: "a")
    // The calls that the second write still needs: for its record, and before that for its file.
    calls.inject(.error(.ENOSPC), after: count > 0 ? 2 : 1, of: [.make, .write], count: 9)
    held.letGo()

    try await second.value
    #expect(try await failure(of: third)?.systemError == .ENOSPC)
    #expect(try await cache.get("a").value == value("second", count))
    calls.die()
    try await cache.close().value
    #expect(try await scene.open(.mebibytes(1)).get("a").value == value("second", count))
  }

  @Test(arguments: 0..<8, [0, 70_000])
  func `a kill while a later value waits leaves no value older than the acknowledged one`(
    survived: Int, count: Int
  ) async throws {
    let held = Held()
    let calls = held.calls()
    let cache = scene.open(600_000, calls)
    cache.set(value("first", count), for: "a")
    // After one more, half is needless, and is written anew: a's first value would be too.
    for _ in 0..<2 { try await cache.set(Data(count: 30_000), for: "b").value }
    held.hold()
    let second = cache.set(value("second", count + 100), for: "a")
    try await held.hasBegun.wait(for: "the writing") { $0 }

    cache.set(value("third", count), for: "a")
    calls.inject(
      .death(isHalfDone: false), after: survived, of: FaultyCalls.Call.effects)
    held.letGo()
    let isSecondThere = try await failure(of: second) == nil
    try await cache.close().value

    let found = try await scene.open(600_000).get("a").valueIfAny
    let (first, later) = (
      value("first", count), [value("second", count + 100), value("third", count)]
    )
    #expect(later.contains(found ?? Data()) || !isSecondThere && found == first)
  }

  @Test(arguments: [true, false])
  func `a set over a fill leaves nothing older than the fill if neither can be written`(
    isUnderWay: Bool
  ) async throws {
    let held = Held()
    let calls = held.calls()
    let cache = scene.open(.mebibytes(1), calls)
    try await cache.set(Data("old"), for: "a").value
    held.hold()
    // A fill that waits behind another write is replaced in the queue.
    if !isUnderWay {
      cache.set(Data("other"), for: "b")
      try await held.hasBegun.wait(for: "the writing") { $0 }
    }
    _ = cache.apply(.fill("a", Stamped(Data("newer")), FillToken()))
    try await held.hasBegun.wait(for: "the writing") { $0 }

    let set = cache.set(Data("newest"), for: "a")
    calls.inject(
      .error(.ENOSPC), after: isUnderWay ? 0 : 1, of: [.write], count: isUnderWay ? 2 : 1)
    held.letGo()

    #expect(try await failure(of: set)?.systemError == .ENOSPC)
    #expect(try await cache.get("a").valueIfAny == nil)
    try await cache.flush().value
    calls.die()
    try await cache.close().value
    #expect(try await scene.open(.mebibytes(1)).get("a").valueIfAny == nil)
  }

  /// Lets the writer wait at the write of a key that has nothing to do with the test.
  private func hold(_ held: Held, _ cache: DiskCache) async throws {
    held.hold()
    cache.set(Data("other"), for: "other")
    try await held.hasBegun.wait(for: "the writing") { $0 }
  }

  @Test func `a removal by predicate is on disk though a later removal of everything can't be`()
    async throws
  {
    let held = Held()
    let calls = held.calls()
    let cache = scene.open(.mebibytes(1), calls)
    try await cache.set(Data("old"), for: "a").value
    try await hold(held, cache)

    let matching = cache.removeAll { $0 == "a" }
    let all = cache.removeAll()
    calls.inject(.error(.ENOSPC), of: [.make])
    held.letGo()

    #expect(try await failure(of: all)?.systemError == .ENOSPC)
    #expect(try await failure(of: matching) == nil)
    calls.die()
    try await cache.close().value
    #expect(try await scene.open(.mebibytes(1)).get("a").valueIfAny == nil)
  }

  @Test(arguments: [true, false])
  func `a removed value does not come back when a set that follows the removal can't be written`(
    isByPredicate: Bool
  ) async throws {
    let held = Held()
    let calls = held.calls()
    let cache = scene.open(.mebibytes(1), calls)
    try await cache.set(Data("old"), for: "a").value
    try await hold(held, cache)

    let revision = Revision.next()
    let matching = isByPredicate ? cache.removeAll { $0 == "a" } : nil
    let set = cache.set(Data("new"), for: "a")
    let all = isByPredicate ? nil : cache.apply(.removeAll(revision))
    calls.inject(.error(.ENOSPC), after: 1, of: [.write])
    held.letGo()

    #expect(try await failure(of: set)?.systemError == .ENOSPC)
    if let matching, let error = try await failure(of: matching) {
      // The removal was in time to depend on the set.
      #expect(error.systemError == .ENOSPC)
    }
    if let all { #expect(try await failure(of: all) == nil) }
    #expect(try await cache.get("a").valueIfAny == nil)
    try await cache.flush().value
    calls.die()
    try await cache.close().value
    #expect(try await scene.open(.mebibytes(1)).get("a").valueIfAny == nil)
  }

  @Test func `new times for a value that can't be written are those of the old one`()
    async throws
  {
    let held = Held()
    let calls = held.calls()
    let cache = scene.open(.mebibytes(1), calls)
    try await cache.set(Data("old"), for: "a").value
    held.hold()
    let set = cache.set(Data("new"), for: "a")
    try await held.hasBegun.wait(for: "the writing") { $0 }

    let renewals = (1...2).map { cache.setTimeToLive(.after(.seconds(60 * $0)), for: "a") }
    calls.inject(.error(.ENOSPC), of: [.write])
    held.letGo()

    #expect(try await failure(of: set)?.systemError == .ENOSPC)
    for renewal in renewals { #expect(try await renewal.value) }
    #expect(try await cache.get("a").value == Data("old"))
    try await cache.close().value
    #expect(try await scene.open(.mebibytes(1)).get("a").value == Data("old"))
  }
}
