import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

@Suite(.timeLimit(.minutes(1))) struct DiskCacheTests {
  let scene = DiskScene()

  // MARK: - Asking and telling

  @Test(arguments: [0, 1, 1_000, 100_000])
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

  @Test func `what is told and asked before the opening keeps its order`() async throws {
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

  @Test func `a set is done when its file is there, and stays done`() async throws {
    let cache = scene.open()
    let outcome = cache.set(Data("x"), for: "a")

    try await outcome.value
    #expect(scene.exists("a"))
    try await outcome.value
  }

  @Test func `to dispose of an outcome cancels nothing`() async throws {
    let cache = scene.open()

    cache.set(Data("x"), for: "a").subscribe().dispose()
    try await cache.flush().value

    #expect(scene.exists("a"))
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

  @Test func `what is removed is gone at once, and after a restart`() async throws {
    try await scene.fill { $0.set(Data("x"), for: "a") }
    try await scene.fill { $0.remove("a") }
    #expect(scene.names == [])

    let cache = scene.open()
    cache.set(Data("y"), for: "a")
    cache.remove("a")

    #expect(try await cache.get("a").valueIfAny == nil)
    try await cache.flush().value
    #expect(scene.names == [])
  }

  @Test func `D31 to remove what is absent succeeds`() async throws {
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
    try await cache.flush().value
    #expect(scene.names == [])
    #expect(try await cache.totalBytes.value == 0)
  }

  @Test func `of two tellings the later one wins, whichever comes first`() async throws {
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

  @Test func `a get that is disposed of before its turn does not touch the disk`() async throws {
    let cache = scene.open()
    let keys = (0..<100).map { "\($0)" }
    let lane = EntryName(of: "a").high % 4  // there are four
    let neighbour = try #require(keys.first { EntryName(of: $0).high % 4 == lane })
    cache.set(Data("x"), for: "a")
    cache.set(Data("y"), for: neighbour)
    try await cache.flush().value
    let gate = DispatchSemaphore(value: 0)
    let holder = Recorder<Data>().subscribe(to: cache.get(neighbour)) { event in
      if case .next = event { _ = gate.wait(timeout: .now() + 10) }
    }

    let disposed = Recorder<Data>().subscribe(to: cache.get("a"))
    disposed.dispose()
    try Data().write(to: scene.file("a"))
    gate.signal()

    try await holder.ended()
    #expect(try await cache.get(neighbour).value == Data("y"))
    #expect(disposed.events.isEmpty)
    // Had it been read, it would have been found damaged, and dropped.
    #expect(try await cache.count.value == 2)
  }

  // MARK: - Filling

  @Test func `a fill is kept, unless something was told since its mark`() async throws {
    let cache = scene.open()
    try await cache.flush().value
    let mark = cache.mark(for: "a")

    try await cache.apply(.fill("a", Stamped(Data("fill")), mark)).value
    #expect(try await cache.get("a").value == Data("fill"))

    cache.set(Data("told"), for: "a")
    try await cache.apply(.fill("a", Stamped(Data("fill")), mark)).value
    #expect(try await cache.get("a").value == Data("told"))
    try await cache.flush().value
  }

  @Test func `a fill comes too late after a removal`() async throws {
    let cache = scene.open()
    try await cache.flush().value
    let beforeRemove = cache.mark(for: "a")
    cache.remove("a")
    let beforeRemoveAll = cache.mark(for: "a")
    cache.removeAll()

    cache.apply(.fill("a", Stamped(Data("fill")), beforeRemove))
      .subscribe()
    try await cache.apply(.fill("a", Stamped(Data("fill")), beforeRemoveAll)).value

    #expect(try await cache.get("a").valueIfAny == nil)
  }

  @Test func `a mark from before the opening lets no fill overwrite a telling`() async throws {
    let cache = scene.open()
    let mark = cache.mark(for: "a")
    cache.set(Data("told"), for: "a")

    try await cache.apply(.fill("a", Stamped(Data("fill")), mark)).value

    #expect(try await cache.get("a").value == Data("told"))
    try await cache.flush().value
  }

  @Test func `a mark from before the opening lets a fill in where nothing was told`() async throws {
    let cache = scene.open()
    let mark = cache.mark(for: "a")

    try await cache.apply(.fill("a", Stamped(Data("fill")), mark)).value

    #expect(try await cache.get("a").value == Data("fill"))
  }

  @Test func `what was there at the start can be filled over`() async throws {
    try await scene.fill { $0.set(Data("old"), for: "a") }
    let cache = scene.open()
    try await cache.flush().value

    try await cache.apply(.fill("a", Stamped(Data("fill")), cache.mark(for: "a"))).value

    #expect(try await cache.get("a").value == Data("fill"))
  }

  @Test func `a filled value keeps its age and its validator`() async throws {
    let validator = Validator(entityTag: "\"1\"", lastModified: "yesterday")
    let stamped = Stamped(Data("x"), age: .seconds(29 * 60), validator: validator)
    try await scene.fill { $0.apply(.fill("a", stamped, .any)).subscribe() }

    let found = try await scene.open().getStamped("a", Lookup()).value

    #expect(found.value == Data("x"))
    #expect(found.validator == validator)
    #expect(found.age >= .seconds(29 * 60) && found.age < .seconds(30 * 60))
  }

  @Test func `a fill of any age traps nothing`() async throws {
    let cache = scene.open()

    for age in [Duration.seconds(Int64.max), .nanoseconds(1), .zero] {
      try await cache.apply(.fill("a", Stamped(Data("x"), age: age), .any)).value
      #expect(try await cache.getStamped("a", Lookup()).value.age <= WallTime.greatestAge)
    }
  }

  // MARK: - Freshness

  @Test(arguments: [true, false])
  func `a lookup decides which answers will do`(isWritten: Bool) async throws {
    let cache = scene.open()
    let stamped = Stamped(Data("x"), age: .seconds(60))
    let outcome = cache.apply(.fill("a", stamped, .any))
    if isWritten { try await outcome.value }

    #expect(try await cache.get("a", freshness: .atMost(.seconds(59))).valueIfAny == nil)
    #expect(try await cache.get("a", freshness: .atMost(.seconds(3_600))).valueIfAny != nil)
    #expect(try await cache.get("a", freshness: .cachedOnly).valueIfAny != nil)
    #expect(try await cache.get("a", freshness: .reload).valueIfAny == nil)
    #expect(try await cache.get("a", freshness: .any).valueIfAny != nil)
    try await outcome.value
  }

  // MARK: - The limit

  /// What a value of 100 bytes with a key of one byte takes.
  private let size = RecordHead.size + 101

  @Test func `what has not been used for longest makes room`() async throws {
    let cache = scene.open(3 * size)
    for key in ["a", "b", "c"] { cache.set(Data(count: 100), for: key) }
    _ = try await cache.get("a").value

    cache.set(Data(count: 100), for: "d")

    #expect(try await cache.get("b").valueIfAny == nil)
    for key in ["a", "c", "d"] { #expect(try await cache.get(key).valueIfAny != nil) }
    try await cache.flush().value
    #expect(scene.names.count == 3)
  }

  @Test func `the limit holds after every set`() async throws {
    let limit = 10 * size
    let cache = DiskCache(directory: scene.folder, byteLimit: limit)

    for number in 0..<200 {
      cache.set(Data(count: number % 7 * 50), for: "\(number % 31)")
      #expect(try await cache.totalBytes.value <= limit)
    }

    try await cache.flush().value
    #expect(try await cache.totalBytes.value == scene.bytesOnDisk)
    #expect(try await cache.count.value == scene.names.count)
  }

  @Test func `the sizes of whole files count, and of each key one`() async throws {
    let cache = scene.open()
    for _ in 0..<3 { cache.set(Data(count: 100), for: "a") }

    #expect(try await cache.totalBytes.value == size)
    try await cache.flush().value
    #expect(scene.bytesOnDisk == size)
  }

  @Test func `D26 what is larger than the limit is not stored, and costs no other`() async throws {
    let cache = scene.open(3 * size)
    cache.set(Data(count: 100), for: "a")
    cache.set(Data(count: 100), for: "b")
    try await cache.flush().value

    try await cache.set(Data(count: 3 * size), for: "a").value

    #expect(try await cache.get("a").valueIfAny == nil)
    #expect(try await cache.get("b").valueIfAny != nil)
    #expect(scene.exists("b") && !scene.exists("a"))
  }

  @Test(arguments: [0, -1, .min])
  func `a limit of zero stores nothing`(limit: Int) async throws {
    let cache = DiskCache(directory: scene.folder, byteLimit: limit)

    try await cache.set(Data(), for: "").value

    #expect(try await cache.get("").valueIfAny == nil)
    #expect(scene.names == [])
  }

  @Test func `at a restart the files' times say what was used last`() async throws {
    try await scene.fill { cache in
      for key in ["a", "b", "c"] { cache.set(Data(count: 100), for: key) }
    }
    for (key, time) in [("a", 3_000), ("b", 1_000), ("c", 2_000)] {
      try scene.use(key, at: TimeInterval(time))
    }

    try await scene.fill(2 * size) { _ in }

    #expect(scene.exists("a") && scene.exists("c") && !scene.exists("b"))
  }

  @Test func `a get makes the file's time that of now`() async throws {
    try await scene.fill { cache in
      for key in ["a", "b"] { cache.set(Data(count: 100), for: key) }
    }
    for key in ["a", "b"] { try scene.use(key, at: 1_000) }
    var cache: DiskCache? = scene.open()
    _ = try await cache?.get("a").value
    cache = nil

    try await scene.fill(size) { _ in }

    #expect(scene.exists("a") && !scene.exists("b"))
  }

  // MARK: - Flushing

  @Test func `a flush waits for everything that was told before`() async throws {
    let cache = scene.open()
    for number in 0..<100 { cache.set(Data("x"), for: "\(number)") }

    try await cache.flush().value

    #expect(scene.names.count == 100)
  }

  @Test func `what was told before the cache was released is written`() async throws {
    scene.open().set(Data("x"), for: "a")

    #expect(try await scene.open().get("a").value == Data("x"))
  }
}
