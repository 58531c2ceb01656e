import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

@testable import Millpond

/// Values that are set together.
@Suite(.timeLimit(.minutes(10)), .heavy) struct DiskCacheGroupsTests {
  let scene = DiskScene()
  private static let keys = ["a", "b", "c"]

  private static func values(_ name: String) -> [String: Data] {
    Dictionary(uniqueKeysWithValues: keys.map { ($0, Data("<\(name) \($0)>")) })
  }

  /// What is there of the old values and the new ones, in the order of the keys.
  private func found(_ cache: DiskCache) async throws -> String {
    var names: [String] = []
    for key in Self.keys {
      let value = try await cache.get(key).valueIfAny
      let name = ["old", "new", "late"].first { value == Data("<\($0) \(key)>") }
      names.append(name ?? (value == nil ? "–" : "wrong"))
    }
    return names.joined(separator: " ")
  }

  private func reopened() async throws -> String {
    let cache = scene.open()
    let found = try await found(cache)
    try await cache.close().value
    return found
  }

  /// Returns a log in which new values follow old ones, and then a further one if there is `after`.
  private func makeLog(after: String?) async throws -> (log: URL, bytes: Data, group: Range<Int>) {
    try await scene.fillAndDie { cache in
      for (key, value) in Self.values("old") { cache.set(value, for: key) }
    }
    let log = try #require(scene.segments.first)
    let start = scene.size(of: log)
    try await scene.fillAndDie { $0.set(all: Self.values("new")) }
    let end = scene.size(of: log)
    if let after { try await scene.fillAndDie { $0.set(Data("after"), for: after) } }
    return (log, try Data(contentsOf: log), start..<end)
  }

  private func put(_ bytes: Data, in log: URL) throws {
    for name in scene.names { try FileManager.default.removeItem(at: scene.url(name)) }
    try bytes.write(to: log)
  }

  @Test func `they are there at once, and after a restart`() async throws {
    let cache = scene.open()
    let outcome = cache.set(all: Self.values("new"))
    #expect(try await found(cache) == "new new new")
    try await outcome.value
    try await cache.close().value

    #expect(try await reopened() == "new new new")
  }

  @Test func `a log that is cut anywhere in them has all of them or none`() async throws {
    let (log, bytes, group) = try await makeLog(after: nil)

    for count in group.lowerBound...group.upperBound {
      try put(bytes.prefix(count), in: log)
      try await scene.fillAndDie { $0.set(Data("d"), for: "d") }

      let expected = count < group.upperBound ? "old old old" : "new new new"
      #expect(try await reopened() == expected, "cut at \(count) of \(group)")
      let cache = scene.open()
      #expect(try await cache.get("d").value == Data("d"), "cut at \(count)")
      try await cache.close().value
    }
  }

  @Test(arguments: [nil, "d"])
  func `a flipped bit anywhere in them leaves all of them or none`(after: String?) async throws {
    let (log, bytes, group) = try await makeLog(after: after)
    var outcomes: Set<String> = []

    let step = Effort.stride(23)
    for bit in stride(from: group.lowerBound * 8, to: group.upperBound * 8, by: step) {
      var flipped = bytes
      flipped.flip(bit: bit)
      try put(flipped, in: log)

      for _ in 0..<2 {
        let found = try await reopened()
        outcomes.insert(found)
        #expect(!found.contains("new") && !found.contains("wrong"), "bit \(bit): \(found)")
      }
      if let after {
        let cache = scene.open()
        #expect(try await cache.get(after).valueIfAny == Data("after"), "bit \(bit)")
        try await cache.close().value
      }
    }
    // A damaged value is a miss, and brings no older one back.
    #expect(outcomes.contains("– – –"))
  }

  @Test func `a group whose large value was replaced since is there after a power cut`()
    async throws
  {
    try await scene.fillAndDie { $0.set(Data("old"), for: "a") }
    let log = try #require(scene.segments.first)
    // Up to here the log was on the device.
    let mark = LogPosition(segment: 1, offset: UInt32(scene.size(of: log)))
    let large = Data(repeating: 1, count: 100_000)
    try await scene.fillAndDie { $0.set(all: ["a": Data("new"), "b": large]) }
    try await scene.fillAndDie { $0.set(Data("late"), for: "b") }
    try Data(SyncMark.bytes(mark)).write(to: scene.url(.syncMark))

    for _ in 0..<2 {
      let cache = scene.open()
      #expect(try await cache.get("a").valueIfAny == Data("new"))
      #expect(try await cache.get("b").valueIfAny == Data("late"))
      try await cache.close().value
    }
  }

  @Test func `a group of which the power has left a part is not there, and the old values are`()
    async throws
  {
    let (log, bytes, group) = try await makeLog(after: "d")
    for place in stride(from: group.lowerBound, to: group.upperBound, by: 7) {
      var torn = bytes
      let page = place..<min(place + 40, group.upperBound)
      torn.replaceSubrange(page, with: Data(count: page.count))
      try put(torn, in: log)
      // Up to there the log was on the device.
      let mark = LogPosition(segment: 1, offset: UInt32(group.lowerBound))
      try Data(SyncMark.bytes(mark)).write(to: scene.url(.syncMark))

      for _ in 0..<2 {
        #expect(try await reopened() == "old old old", "torn at \(place)")
        let cache = scene.open()
        try await cache.flush(.synchronized).value
        try await cache.close().value
      }
    }
  }

  @Test(arguments: [FaultyCalls.Fault.error(.ENOSPC), .half])
  func `if they can't be written all fail, and the old values stay`(fault: FaultyCalls.Fault)
    async throws
  {
    try await scene.fill { $0.set(all: Self.values("old")) }
    let calls = FaultyCalls()
    let cache = scene.open(.mebibytes(64), calls)
    _ = await cache.openStatistics()
    calls.inject(fault, of: [.write])
    calls.inject(.error(.ENOSPC), of: [.write], count: 100)

    let failure = try await failure(of: cache.set(all: Self.values("new")))

    guard case .partlyWritten(let failures, 3)? = failure as? CacheError else {
      Issue.record("\(failure as Any)")
      return
    }
    #expect(failures.count == 3)
    #expect(try await found(cache) == "old old old")
    calls.recover()
    try await cache.close().value
    #expect(try await reopened() == "old old old")
  }

  @Test func `one that can't be sealed fails all`() async throws {
    struct Refused: Error {}
    let sealing = DiskSealing(
      seal: { value, _ in
        if value == Data("<new b>") { throw Refused() }
        return value
      }, open: { value, _ in value })
    let cache = scene.open { $0.form = DiskValueFormat(schema: .unversioned, sealing: sealing) }
    try await cache.set(all: Self.values("old")).value

    #expect(try await failure(of: cache.set(all: Self.values("new"))) != nil)

    #expect(try await found(cache) == "old old old")
    try await cache.close().value
  }

  @Test func `one that is too large fails alone`() async throws {
    let cache = scene.open(100_000)
    var values = Self.values("new")
    values["large"] = Data(count: 200_000)

    let failure = try await failure(of: cache.set(all: values))

    guard case .partlyWritten(let failures, 4)? = failure as? CacheError else {
      Issue.record("\(failure as Any)")
      return
    }
    #expect(failures.map { $0.key as? String } == ["large"])
    #expect(try await found(cache) == "new new new")
    try await cache.close().value
  }

  // MARK: Beside other writes

  /// Carries out `use` while the disk is held, then lets the process die after as many more writes,
  /// or the volume be full; then `look` is called.
  private func hold(
    _ writes: Int, _ fault: FaultyCalls.Fault = .death(isHalfDone: true),
    _ use: (DiskCache) -> Void, look: (DiskCache) async throws -> Void = { _ in }
  ) async throws {
    let (gate, hasBegun) = (DispatchSemaphore(value: 0), Watched(false))
    let calls = FaultyCalls { call in
      guard call == .write, !hasBegun.state else { return }
      hasBegun.change { $0 = true }
      _ = gate.wait(timeout: .now() + 60)
    }
    let cache = scene.open(.mebibytes(64), calls)
    _ = await cache.openStatistics()
    cache.set(Data("first"), for: "first")
    try await hasBegun.wait(for: "the writing") { $0 }
    use(cache)
    calls.inject(fault, after: writes, of: [.write], count: 1_000)
    gate.signal()
    _ = try? await cache.flush().value
    try await look(cache)
    calls.die()
    _ = try? await cache.close().value
  }

  @Test func `a flush before them waits for the values that they replace`() async throws {
    try await scene.fill { $0.set(all: Self.values("old")) }
    let flushed = Recorder<Void>()

    // The first write, that of "late", and no more.
    try await hold(2) { cache in
      cache.set(Data("<late a>"), for: "a")
      flushed.subscribe(to: cache.flush())
      cache.set(all: Self.values("new"))
    }

    try await flushed.ended()
    #expect(flushed.isCompleted)
    #expect(try await reopened() == "late old old")
  }

  @Test func `if they can't be written, the value is there that waited before them`() async throws {
    try await scene.fill { $0.set(all: Self.values("old")) }

    try await hold(2, .error(.ENOSPC)) { cache in
      cache.set(Data("<late a>"), for: "a")
      cache.set(all: Self.values("new"))
    } look: { cache in
      let present = try await found(cache)
      #expect(present == "late old old")
    }

    #expect(try await reopened() == "late old old")
  }

  @Test(arguments: 0..<4)
  func `groups that overlap are on disk whole, wherever the process dies`(
    writes: Int
  ) async throws {
    try await scene.fill { $0.set(all: Self.values("old")) }

    try await hold(writes) { cache in
      cache.set(all: Self.values("new").filter { $0.key != "c" })
      cache.set(all: Self.values("late").filter { $0.key != "a" })
    }

    let expected = ["old old old", "old old old", "new new old", "new late late"][writes]
    #expect(try await reopened() == expected)
  }

  @Test func `a later value is written in the place of one of them`() async throws {
    try await hold(2) { cache in
      cache.set(all: Self.values("new"))
      cache.set(Data("<late b>"), for: "b")
      cache.remove("c")
    }

    #expect(try await reopened() == "new late –")
  }

  @Test func `one that compaction has moved alone stays`() async throws {
    let cache = scene.open(.mebibytes(1))
    try await cache.set(all: Self.values("new")).value
    cache.set(Data("<late c>"), for: "c")
    for number in 0..<400 { try await cache.set(Data(count: 10_000), for: "\(number % 3)").value }
    #expect(cache.statistics.bytesCopied > 0)
    try await cache.close().value
    try FileManager.default.removeItem(at: scene.url(.index))

    #expect(try await reopened() == "new new late")
  }

  @Test func `a layered cache sets each value by itself`() async throws {
    let cache = scene.open()
    try await MemoryCache<String, Data>(countLimit: 10).layered(over: cache)
      .set(all: Self.values("new")).value
    #expect(try await found(cache) == "new new new")
    try await cache.close().value
  }
}
