import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

@Suite(.timeLimit(.minutes(3))) struct DiskCacheTests {
  let scene = DiskScene()

  @Test(arguments: [0, 1, 1_000, 65_535, 65_536, 300_000])
  func `a value is there after a restart`(count: Int) async throws {
    let value = Data((0..<count).map { UInt8(truncatingIfNeeded: $0) })
    try await scene.fill { $0.set(value, for: "a") }

    #expect(try await scene.open().get("a").value == value)
  }

  @Test func `a get that is asked after a set sees its value, written or not`() async throws {
    let cache = scene.open()

    for number in 0..<100 {
      cache.set(Data("\(number)"), for: "a")
      #expect(try await cache.get("a").value == Data("\(number)"))
    }
    try await cache.flush().value
  }

  @Test func `writes and gets from before the opening keep their order`() async throws {
    try await scene.fill { $0.set(Data("old"), for: "a") }
    let cache = scene.open()

    let early = Recorder<Data>().subscribe(to: cache.get("b"))
    cache.set(Data("new"), for: "a")
    let late = Recorder<Data>().subscribe(to: cache.get("a"))
    cache.set(Data("new"), for: "b")
    cache.set(Data("new"), for: "c")
    cache.remove("c")
    let last = Recorder<Data>().subscribe(to: cache.get("c"))

    for recorder in [early, late, last] { try await recorder.ended() }
    #expect(early.values == [])
    #expect(late.values == [Data("new")])
    #expect(last.values == [])
    try await cache.flush().value
  }

  @Test func `a get asks when it is subscribed, each time`() async throws {
    let cache = scene.open()
    let get = cache.get("a")
    #expect(try await get.valueIfAny == nil)

    cache.set(Data("x"), for: "a")

    #expect(try await get.valueIfAny == Data("x"))
    try await cache.flush().value
  }

  @Test func `a miss completes empty`() async throws {
    let recorder = Recorder<Data>().subscribe(to: scene.open().get("a"))

    try await recorder.ended()

    #expect(recorder.transcript == ["completed"])
    await #expect(throws: CacheError.self) { try await scene.open().get("a").value }
  }

  @Test(arguments: [10, 100_000])
  func `a set is done when it is in the file, and stays done`(count: Int) async throws {
    let cache = scene.open()
    let value = Data(repeating: 7, count: count)
    let outcome = cache.set(value, for: "a")

    try await outcome.value
    let file = try #require(scene.valueFiles.first ?? scene.segments.first)
    #expect(try Data(contentsOf: file).range(of: value) != nil)
    try await outcome.value
  }

  @Test func `to dispose of an outcome cancels nothing`() async throws {
    let cache = scene.open()

    cache.set(Data("x"), for: "a").subscribe().dispose()
    try await cache.close().value

    #expect(try await scene.open().get("a").value == Data("x"))
  }

  @Test func `an outcome that is kept does not keep the folder in use`() async throws {
    let outcome = scene.open().set(Data("x"), for: "a")

    #expect(try await scene.open().get("a").value == Data("x"))
    try await outcome.value
  }

  @Test func `nothing is there at once`() async throws {
    let cache = scene.open()
    try await cache.set(Data("x"), for: "a").value

    #expect(cache.now("a", Lookup()) == nil)
  }

  @Test func `a removed value is gone at once, and after a restart`() async throws {
    try await scene.fill { $0.set(Data("x"), for: "a") }
    try await scene.fill { cache in
      cache.remove("a")
      cache.set(Data("y"), for: "b")
      cache.remove("b")
    }

    let cache = scene.open()
    for key in ["a", "b"] { #expect(try await cache.get(key).valueIfAny == nil) }
    #expect(try await cache.count.value == 0)
  }

  @Test func `a removal of an absent key succeeds`() async throws {
    let cache = scene.open()

    try await cache.remove("a").value
    try await cache.removeAll().value
  }

  @Test func `everything is removed at once, and after a restart`() async throws {
    try await scene.fill { cache in
      for number in 0..<50 { cache.set(Data("x"), for: "\(number)") }
    }
    let cache = scene.open()
    cache.set(Data("x"), for: "unwritten")

    let outcome = cache.removeAll()

    #expect(try await cache.count.value == 0)
    #expect(try await cache.get("0").valueIfAny == nil)
    #expect(try await cache.get("unwritten").valueIfAny == nil)
    try await outcome.value
    #expect(try await cache.totalBytes.value == 0)
    try await cache.close().value
    #expect(try await scene.open().count.value == 0)
  }

  @Test func `of two writes the later one wins, whichever comes first`() async throws {
    let cache = scene.open()
    let (first, second, third) = (Revision.next(), Revision.next(), Revision.next())

    try await cache.apply(.set("a", Data("second"), second)).value
    try await cache.apply(.set("a", Data("first"), first)).value
    try await cache.apply(.remove("a", first)).value
    #expect(try await cache.get("a").value == Data("second"))

    try await cache.apply(.remove("a", third)).value
    try await cache.apply(.set("a", Data("second"), second)).value
    #expect(try await cache.get("a").valueIfAny == nil)
  }

  @Test func `a large value is not read for a caller that has left`() async throws {
    let calls = FaultyCalls()
    let cache = scene.open(.mebibytes(1), calls)
    let lane = KeyHash(of: "a").value % 4  // there are four
    let neighbour = try #require(
      (0..<100).map { "\($0)" }.first { KeyHash(of: $0).value % 4 == lane })
    for key in ["a", neighbour] { cache.set(Data(count: 70_000), for: key) }
    try await cache.flush().value
    let count = calls.count(.open)
    let gate = DispatchSemaphore(value: 0)
    let holder = Recorder<Data>().subscribe(to: cache.get(neighbour)) { event in
      if case .next = event { _ = gate.wait(timeout: .now() + 10) }
    }

    let disposed = Recorder<Data>().subscribe(to: cache.get("a"))
    disposed.dispose()
    gate.signal()

    try await holder.ended()
    #expect(try await cache.get(neighbour).value.count == 70_000)
    #expect(disposed.events.isEmpty)
    #expect(calls.count(.open) == count + 2)
  }

  @Test func `a get that is disposed of before its turn does not touch the disk`() async throws {
    let calls = FaultyCalls()
    let cache = scene.open(.mebibytes(1), calls)
    let lane = KeyHash(of: "a").value % 4  // there are four
    let neighbour = try #require(
      (0..<100).map { "\($0)" }.first { KeyHash(of: $0).value % 4 == lane })
    cache.set(Data("x"), for: "a")
    cache.set(Data("y"), for: neighbour)
    try await cache.flush().value
    // A system that cannot report which pages are in memory.
    calls.inject(.half, of: [.readNow], count: .max)
    let gate = DispatchSemaphore(value: 0)
    let holder = Recorder<Data>().subscribe(to: cache.get(neighbour)) { event in
      if case .next = event { _ = gate.wait(timeout: .now() + 10) }
    }

    let disposed = Recorder<Data>().subscribe(to: cache.get("a"))
    disposed.dispose()
    gate.signal()

    try await holder.ended()
    #expect(try await cache.get(neighbour).value == Data("y"))
    #expect(disposed.events.isEmpty)
    #expect(calls.count(.read) == 2)
  }
}
