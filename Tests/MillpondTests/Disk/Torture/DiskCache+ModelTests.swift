import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

@testable import Millpond

/// Random histories beside a dictionary.
@Suite(.timeLimit(.minutes(10)), .heavy) struct DiskCacheModelTests {
  /// A history of writes, and the expected contents.
  private final class History {
    private let scene = DiskScene()
    private let limit: Int
    private var calls = FaultyCalls()
    private var cache: DiskCache
    private var random: SeededNumbers
    private var record = TortureRecord()

    /// The expected contents.
    private var expected: [String: Data] = [:]
    private var tokens: [String: FillToken] = [:]

    /// The keys that were written to since their tokens were drawn.
    private var written: Set<String> = []
    private(set) var hits = 0
    private(set) var bytesCopied = 0
    private(set) var complaint: String?

    init(seed: Int, limit: Int) {
      random = SeededNumbers(seed)
      self.limit = limit
      cache = scene.open(limit, calls)
    }

    func run(_ steps: Int) async throws {
      _ = await cache.openStatistics()
      for step in 0..<steps where complaint == nil {
        try await perform()
        if step % 100 == 99 { try await reopen(isClean: random.next(2) == 0) }
      }
      try await reopen(isClean: true)
    }

    /// The key of a number; every fourth is an equal text of other bytes at times.
    private func key(_ number: Int) -> String {
      if number % 4 != 0 { return "key \(number)" }
      return random.next(2) == 0 ? "cl\u{E9} \(number)" : "cle\u{301} \(number)"
    }

    private func perform() async throws {
      let key = key(random.next(40))
      switch random.next(100) {
      case 0..<41: set(key, random.size(upTo: min(2 * limit, 1 << 22)))
      case 41..<43: try await stream(key)
      case 43..<50: fill(key)
      case 50..<60:
        written.insert(key)
        expected[key] = nil
        cache.remove(key)
      case 60:
        written.formUnion(tokens.keys)
        expected = [:]
        cache.removeAll()
      case 61: removeAllLate()
      case 62..<64: try await cache.flush().value
      default: try await check(key)
      }
    }

    private func set(_ key: String, _ count: Int) {
      let value = record.set(key, count: count).value
      note(Recorder().subscribe(to: cache.set(value, for: key)), value, key)
    }

    /// A value larger than the limit is refused, and the former one stays.
    private func note(_ outcome: Recorder<Void>, _ value: Data, _ key: String) {
      if outcome.failure?.isTooLarge == true { return }
      expected[key] = value
      written.insert(key)
    }

    /// Stores a value in pieces of any size, up to beyond every buffer.
    private func stream(_ key: String) async throws {
      let value = record.set(key, count: random.size(upTo: min(2 * limit, 1 << 23))).value
      var (pieces, rest) = ([Data](), value)
      while !rest.isEmpty {
        let piece = rest.prefix(1 + random.size(upTo: 1 << 23))
        pieces.append(piece)
        rest = rest.dropFirst(piece.count)
      }
      let outcome = Recorder<Void>().subscribe(to: cache.storing(.from(pieces), for: key))
      try await outcome.ended()
      note(outcome, value, key)
    }

    /// Removes everything from before some sets that are carried out first.
    private func removeAllLate() {
      let revision = Revision.next()
      written.formUnion(tokens.keys)
      expected = [:]
      for _ in 0..<random.next(4) { set(key(random.next(40)), random.next(1_500)) }
      _ = cache.apply(.removeAll(revision))
    }

    /// With a token of now, or of a while ago.
    private func fill(_ key: String) {
      guard let token = tokens[key], random.next(2) == 0 else {
        tokens[key] = FillToken()
        written.remove(key)
        return
      }
      tokens[key] = nil
      let value = record.set(key, count: random.next(500)).value
      let outcome = Recorder<Void>().subscribe(to: cache.apply(.fill(key, Stamped(value), token)))
      if outcome.values.isEmpty { return }
      if written.contains(key) { complaint = "\(key) was filled with what came too late" }
      expected[key] = value
    }

    private func check(_ key: String) async throws {
      guard let found = try await cache.get(key).valueIfAny else {
        let statistics = await cache.openStatistics()
        let mayForget = limit < 1_000_000 || statistics.rejections > 0
        if expected[key] != nil, !mayForget { complaint = "\(key) is lost" }
        return
      }
      hits += 1
      if found != expected[key] {
        let expected = expected[key].map { String(decoding: $0.prefix(20), as: UTF8.self) }
        complaint =
          "\(String(decoding: found.prefix(20), as: UTF8.self)), not \(expected ?? "none")"
      }
    }

    /// Reopens the cache once all writes are on disk, after a clean end of the process or a kill.
    private func reopen(isClean: Bool) async throws {
      try await cache.flush().value
      bytesCopied += await cache.openStatistics().bytesCopied
      if !isClean { calls.die() }
      try await cache.close().value
      if scene.bytesOnDisk > limit + 100, isClean { complaint = "\(scene.bytesOnDisk) bytes" }
      calls = FaultyCalls()
      cache = scene.open(limit, calls)
      _ = await cache.openStatistics()
      tokens = [:]
      for number in 0..<40 { try await check(key(number)) }
      if let complaint {
        self.complaint = "after \(isClean ? "a clean end" : "a kill"): \(complaint)"
      }
    }
  }

  @Test(arguments: [60_000, 400_000, 400_000_000])
  func `a history of writes, clean ends and kills never shows an old value`(
    limit: Int
  ) async throws {
    var bytesCopied = 0
    for seed in 0..<Effort.rounds(6, few: 2) {
      let history = History(seed: seed, limit: limit)

      try await history.run(1_000)

      #expect(history.complaint == nil, "seed \(seed)")
      #expect(history.hits > 50, "seed \(seed)")
      bytesCopied += history.bytesCopied
    }

    // How much one history copies depends on when the writer finds time for it.
    #expect(bytesCopied > 1_000 || limit > 1_000_000)
  }
}
