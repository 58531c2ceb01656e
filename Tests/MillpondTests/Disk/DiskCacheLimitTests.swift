import Dispatch
import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

@Suite(.timeLimit(.minutes(3))) struct DiskCacheLimitTests {
  let scene = DiskScene()

  /// Returns a limit with room for `count` values of 100 bytes and keys of one byte.
  private func limit(_ count: Int) -> Int {
    let needed = count * DiskLimits.cost(recordSize: RecordHead.size + 101, large: 0)
    return (needed...).first { DiskLimits(byteLimit: $0).costLimit >= needed } ?? 0
  }

  @Test func `the least recently used values are evicted for a new one`() async throws {
    let cache = scene.open(limit(3))
    for key in ["a", "b", "c"] { cache.set(Data(count: 100), for: key) }
    _ = try await cache.get("a").value

    cache.set(Data(count: 100), for: "d")

    #expect(try await cache.get("b").valueIfAny == nil)
    for key in ["a", "c", "d"] { #expect(try await cache.get(key).valueIfAny != nil) }
    try await cache.flush().value
    #expect(await cache.openStatistics().evictions == 1)
  }

  @Test(arguments: [2_000, 20_000, 300_000])
  func `the limit holds after every set, and for the files`(limit: Int) async throws {
    let cache = scene.open(limit)

    for number in 0..<500 {
      cache.set(Data(count: number % 7 * limit / 40), for: "\(number % 31)")
      #expect(try await cache.totalBytes.value <= limit)
      if number % 100 == 0 {
        try await cache.flush().value
        #expect(scene.bytesOnDisk <= limit)
      }
    }

    try await cache.close().value
    #expect(scene.bytesOnDisk <= limit)
  }

  @Test func `files that could not be removed for a while go with the next write`() async throws {
    let calls = FaultyCalls()
    let cache = scene.open(1_000_000, calls)
    calls.inject(.error(.EBUSY), of: [.remove], count: .max)
    for _ in 0..<20 { try await cache.set(Data(count: 100_000), for: "a").value }
    #expect(scene.valueFiles.count > 10)

    calls.recover()
    try await cache.set(Data("small"), for: "b").value

    #expect(scene.valueFiles.count == 1)
    #expect(scene.bytesOnDisk <= 1_000_000)
  }

  @Test func `the limit holds for very many small values too`() async throws {
    let limit = 200_000
    let cache = scene.open(limit)

    for number in 0..<6_000 { cache.set(Data(), for: "\(number % 1_500)") }
    try await cache.close().value

    #expect(scene.bytesOnDisk <= limit)
    #expect(try await scene.open(limit).count.value > 1_000)
  }

  @Test func `a lower limit holds when writes from after the opening reach the disk`() async throws
  {
    try await scene.fill(.mebibytes(4)) { cache in
      for number in 0..<5_000 { cache.set(Data(count: 100), for: "\(number)") }
    }

    let cache = scene.open(50_000)
    try await cache.set(Data("x"), for: "a").value
    #expect(try await cache.count.value > 50)
    try await cache.close().value

    #expect(scene.bytesOnDisk <= 50_002)
  }

  @Test func `of each key one value counts`() async throws {
    let cache = scene.open()
    for _ in 0..<3 { cache.set(Data(count: 100), for: "a") }

    let cost = DiskLimits.cost(recordSize: RecordHead.size + 101, large: 0)
    #expect(try await cache.totalBytes.value == cost)
    try await cache.flush().value
    #expect(try await cache.totalBytes.value == cost)
  }

  @Test func `a value larger than the limit is not stored, and evicts no other`() async throws {
    let cache = scene.open(limit(3))
    cache.set(Data(count: 100), for: "a")
    cache.set(Data(count: 100), for: "b")
    try await cache.flush().value

    let error = try await failure(of: cache.set(Data(count: 3_000), for: "a"))

    guard case DiskError.tooLarge(_, "a", let byteCount, let limit)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(byteCount >= 3_000 && limit < 3_000)
    #expect(error?.localizedDescription.contains("byteLimit") == true)
    #expect(try await cache.get("a").value == Data(count: 100))
    #expect(try await cache.get("b").valueIfAny != nil)
  }

  @Test(arguments: [1, 60_000, 1_000_000])
  func `the failure of a value that is too large names more bytes than the cache holds`(
    limit: Int
  ) async throws {
    let cache = scene.open(limit)
    for share in [0.8, 0.95, 2] {
      let value = Data(count: max(2, Int(Double(limit) * share)))
      let error = try await failure(of: cache.named("pictures").set(value, for: "a?token=SECRET"))
      guard limit > 60_000, share < 0.9 else {
        guard case DiskError.tooLarge(_, "a?token=", let byteCount, let held)? = error else {
          Issue.record("\(share): \(String(describing: error))")
          continue
        }
        #expect(byteCount > held && (0...limit).contains(held))
        continue
      }
      #expect(error == nil)  // has a file of its own
    }
  }

  @Test func `a value too large to store leaves the key's former value in place after a restart`()
    async throws
  {
    try await scene.fillAndDie(limit(3)) { cache in
      cache.set(Data(count: 100), for: "a")
      cache.set(Data(count: 3_000), for: "a")
    }

    #expect(try await scene.open(limit(3)).get("a").value == Data(count: 100))
  }

  @Test func `the limit holds at rest for values that are larger than a segment`() async throws {
    let limit = 1_000_000
    let cache = scene.open(limit)

    for number in 0..<500 {
      cache.set(Data(count: 50_000 + number * 7_919 % 10_000), for: "\(number * 31 % 17)")
      cache.set(Data(count: 50_000 + number * 104_729 % 10_000), for: "\(number % 13)")
      try await cache.flush().value
      try await cache.writerRests()
      #expect(scene.bytesOnDisk <= limit + 1)
    }
  }

  @Test func `no file of records is longer than a part of the limit, however much comes at once`()
    async throws
  {
    let limits = DiskLimits(byteLimit: 1_000_000)
    let (gate, hasBegun) = (DispatchSemaphore(value: 0), Watched(false))
    let calls = FaultyCalls { call in
      guard call == .write, !hasBegun.state else { return }
      hasBegun.change { $0 = true }
      _ = gate.wait(timeout: .now() + 10)
    }
    let cache = scene.open(limits.byteLimit, calls)
    cache.set(Data(count: limits.greatestSegment / 2), for: "first")
    try await hasBegun.wait(for: "the writing") { $0 }

    for number in 0..<300 { cache.set(Data(count: 1_000), for: "\(number)") }
    gate.signal()
    try await cache.flush().value

    #expect(scene.segments.count > 300_000 / limits.greatestSegment)
    for segment in scene.segments {
      #expect(scene.size(of: segment) < limits.greatestSegment + 1_100)
    }
  }

  @Test(arguments: [0, -1, .min])
  func `a limit of zero stores nothing`(limit: Int) async throws {
    let cache = DiskCache(directory: scene.folder, byteLimit: limit)

    try await cache.set(Data(), for: "").value

    #expect(try await cache.get("").valueIfAny == nil)
    try await cache.close().value
    #expect(scene.bytesOnDisk == 0)
  }

  @Test func `at a restart it is known what was used last`() async throws {
    let cache = scene.open()
    for key in ["a", "b", "c"] { cache.set(Data(count: 100), for: key) }
    try await cache.flush().value
    for key in ["b", "c", "a"] { _ = try await cache.get(key).value }
    try await cache.close().value

    let smaller = scene.open(limit(2))
    try await smaller.set(Data(count: 100), for: "c").value

    #expect(try await smaller.get("b").valueIfAny == nil)
    for key in ["a", "c"] { #expect(try await smaller.get(key).valueIfAny != nil) }
  }

  @Test(arguments: [EvictionPolicy.adaptive, .adaptivePreferringSmall, .leastRecentlyUsed])
  func `every policy keeps the limit`(policy: EvictionPolicy) async throws {
    let cache = scene.open(30_000, POSIXCalls()) { $0.policy = policy }

    for number in 0..<1_000 {
      cache.set(Data(count: number * 37 % 3_000), for: "\(number * 11 % 97)")
      if number % 3 == 0 { _ = try await cache.get("\(number % 5)").valueIfAny }
    }
    try await cache.close().value

    #expect(scene.bytesOnDisk <= 30_001)
  }
}
