import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting

@testable import Millpond

/// A run of a cache on a volume in memory, with its possible remains after a power cut.
final class PowerCutRun {
  /// A write of a key.
  private struct Entry {
    /// The number of the volume's changes before.
    let place: Int

    /// The value; nil for a removal.
    let value: Data?
  }

  /// A flush to the device that has succeeded.
  private struct Flush {
    /// The number of the volume's changes by then.
    let place: Int

    /// The number of writes of each key before it began.
    let counts: [String: Int]
  }

  private static let limit = 2 << 20
  let scene = DiskScene()
  private var calls = VolumeCalls()
  private var random: SeededNumbers
  private var entries: [String: [Entry]] = [:]
  private var flushes: [Flush] = []

  /// The values that were set together.
  private var groups: [[String: Data]] = []
  private var lastVersion = 0
  private var setCount = 0
  private(set) var bytesCopied = 0
  private(set) var complaints: [String] = []

  init(seed: Int) throws {
    random = SeededNumbers(seed)
    try scene.makeFolder()
  }

  private func open(_ calls: VolumeCalls) -> DiskCache {
    scene.open(Self.limit, calls)
  }

  // MARK: - The run

  /// Sets, streams, overwrites, removes, flushes and reopens at random.
  func run(_ steps: Int) async throws {
    var cache = open(calls)
    for _ in 0..<steps {
      try await perform(cache)
      if random.next(40) == 0 {
        try await close(cache)
        cache = open(calls)
      }
    }
    try await close(cache)
  }

  private func close(_ cache: DiskCache) async throws {
    let statistics = await cache.openStatistics()
    if statistics.evictions + statistics.rejections > 0 { complaints.append("an eviction") }
    if random.next(3) == 0 { try await flush(cache, .synchronized) }
    try await cache.close().value
    bytesCopied += cache.statistics.bytesCopied + statistics.bytesCopied
  }

  private func perform(_ cache: DiskCache) async throws {
    switch random.next(100) {
    case 0..<60:
      let key = "small \(random.next(24))"
      let outcome = cache.set(value(key, random.next(5) == 0 ? 12_000 : 1_500), for: key)
      if random.next(2) == 0 { try await outcome.value }
    case 60..<70:
      let key = "large \(random.next(2))"
      let outcome = cache.set(value(key, 66_000), for: key)
      if random.next(2) == 0 { try await outcome.value }
    case 70..<80:
      let key = "streamed \(random.next(2))"
      let value = value(key, random.next(4) > 0 ? 70_000 : 270_000)
      let pieces = stride(from: 0, to: value.count, by: 100_000).map {
        value[$0..<min($0 + 100_000, value.count)]
      }
      try await cache.storing(Signal.from(pieces), for: key).value
    case 80..<83:
      let first = random.next(20)
      let keys = (0..<4).map { "small \(first + $0)" } + ["large \(random.next(2))"]
      let values = keys.map { ($0, value($0, $0.hasPrefix("large") ? 66_000 : 1_500)) }
      groups.append(Dictionary(uniqueKeysWithValues: values))
      let outcome = cache.set(all: groups[groups.count - 1])
      if random.next(2) == 0 { try await outcome.value }
    case 83..<86:
      let keys = entries.keys.sorted()
      if keys.isEmpty { return }
      let key = keys[random.next(keys.count)]
      note(key, nil)
      cache.remove(key)
    case 86:
      if random.next(4) > 0 { return }
      try await removeAll(cache, isLate: random.next(2) == 0)
    case 87..<92: try await flush(cache, .written)
    default: try await flush(cache, .synchronized)
    }
  }

  /// Removes everything; if it is late, sets that were made after it are carried out before it.
  private func removeAll(_ cache: DiskCache, isLate: Bool) async throws {
    let revision = Revision.next()
    for key in entries.keys { note(key, nil) }
    for _ in 0..<(isLate ? 1 + random.next(4) : 0) {
      let key = random.next(4) > 0 ? "small \(random.next(24))" : "large \(random.next(2))"
      let outcome = cache.set(value(key, key.hasPrefix("large") ? 66_000 : 1_500), for: key)
      if random.next(2) == 0 { try await outcome.value }
    }
    let outcome = cache.apply(.removeAll(revision))
    if random.next(2) == 0 { try await outcome.value }
  }

  private func value(_ key: String, _ count: Int) -> Data {
    lastVersion += 1
    let value = TortureRecord.value(key, lastVersion, count)
    note(key, value)
    return value
  }

  private func note(_ key: String, _ value: Data?) {
    entries[key, default: []].append(Entry(place: calls.changeCount, value: value))
  }

  private func flush(_ cache: DiskCache, _ durability: Durability) async throws {
    let counts = entries.mapValues(\.count)
    try await cache.flush(durability).value
    if durability == .written { return }
    flushes.append(Flush(place: calls.changeCount, counts: counts))
  }

  // MARK: - The power cuts

  /// Cuts the power at that many places, and checks the contents there.
  func cut(_ times: Int, seed: Int) async throws {
    var random = SeededNumbers(seed)
    let changes = calls.changes
    let places = (0..<times).map { _ in random.next(changes.count + 1) }.sorted()
    var volume = Volume()
    var done = 0
    for place in places where complaints.isEmpty {
      for change in changes[done..<place] {
        volume.apply(change)
        if random.next(6) == 0 { volume.writeBack(&random) }
      }
      done = place
      try await look(at: volume.afterPowerCut(&random), place, &random)
    }
  }

  private func look(at volume: Volume, _ place: Int, _ random: inout SeededNumbers) async throws {
    let calls = VolumeCalls(volume)
    let cache = open(calls)
    let counts = flushes.last { $0.place <= place }?.counts ?? [:]
    var found: [String: Data] = [:]
    for key in entries.keys.sorted() {
      let value = try await cache.get(key).valueIfAny
      found[key] = value
      let first = max(0, (counts[key] ?? 0) - 1)
      let candidates = (entries[key] ?? [])[first...].filter { $0.place <= place }
      let mayBeAbsent = counts[key] == nil || candidates.contains { $0.value == nil }
      if value == nil ? mayBeAbsent : candidates.contains(where: { $0.value == value }) { continue }
      let expected = candidates.map { name($0.value) }
      complaints.append("at \(place): \(key) is \(name(value)), not of \(expected)")
    }
    // Before the first flush nothing is promised.
    if !counts.isEmpty { complaints += groups.compactMap { complaint($0, found, place) } }
    // Recovered values stay after the next flush, whatever is lost then.
    found["small 1"] = Data("new")
    cache.set(Data("new"), for: "small 1")
    try await cache.flush(.synchronized).value
    let left = calls.volume.afterPowerCut(&random)
    try await cache.close().value
    let again = open(VolumeCalls(left))
    for key in entries.keys.sorted() {
      let value = try await again.get(key).valueIfAny
      if value == found[key] { continue }
      let before = name(found[key])
      complaints.append("at \(place), then again: \(key) is \(name(value)), was \(before)")
    }
    try await again.close().value
  }

  /// Returns the fault of values that were set together: one of them is there, and an older value, or
  /// none, of another key that no later write has removed.
  private func complaint(
    _ group: [String: Data], _ found: [String: Data], _ place: Int
  ) -> String? {
    guard group.contains(where: { found[$0] == $1 }) else { return nil }
    // The name of a file that was not flushed may be lost, and the value before is there.
    for (key, value) in group where !key.hasPrefix("large") {
      let writes = (entries[key] ?? []).filter { $0.place <= place }
      guard let own = writes.firstIndex(where: { $0.value == value }),
        !writes[own...].contains(where: { $0.value == found[key] })
      else { continue }
      return "at \(place): \(key) is \(name(found[key])), beside others of \(name(value))"
    }
    return nil
  }

  private func name(_ value: Data?) -> String {
    value.map { String(decoding: $0.prefix(24), as: UTF8.self) } ?? "none"
  }
}
