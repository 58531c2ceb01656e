import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

@testable import Millpond

/// Random requests to a cache over memory and disk, beside the list of the origin's versions.
@Suite(.timeLimit(.minutes(10)), .heavy) struct HTTPCacheModelTests {
  /// A history of requests, and what is wrong with an answer.
  private final class History {
    private static let paths = ["/a", "/caf%C3%A9", "/cafe%CC%81", "/dddd"]

    private let scene = DiskScene()
    private let origin: VersionedOrigin
    private let seconds = Locked(0)
    private var random: SeededNumbers
    private var disk: DiskCache
    private var cache: HTTPCache
    private(set) var complaint: String?
    private(set) var count = 0

    init(seed: Int) {
      random = SeededNumbers(seed)
      origin = VersionedOrigin(seed: seed)
      disk = scene.open()
      cache = Self.cache(in: disk, origin, seconds)
      for path in Self.paths { origin.state.withLock { $0.change(path, at: 0) } }
    }

    var fetches: Int { origin.state.withLock { $0.count } }

    private static func cache(
      in disk: DiskCache, _ origin: VersionedOrigin, _ seconds: Locked<Int>
    ) -> HTTPCache {
      let memory = MemoryCache<String, HTTPCacheRecord>(
        costLimit: .mebibytes(4), cost: { $0.body?.count ?? 1 })
      return HTTPCache(
        over: origin, in: memory.layered(over: disk.mapValues(.httpRecords)),
        byteLimit: .mebibytes(4),
        now: { Date(timeIntervalSince1970: Double(seconds.withLock { $0 })) })
    }

    func run(_ steps: Int) async throws {
      for _ in 0..<steps where complaint == nil {
        switch random.next(20) {
        case 0: try await reopen()
        case 1:
          let path = path()
          origin.state.withLock { $0.change(path, at: seconds.withLock { $0 }) }
        case 2..<4: seconds.withLock { $0 += random.next(50) }
        case 4: origin.state.withLock { $0.breaksOff = true }
        default: try await ask()
        }
      }
      try await disk.close().value
    }

    private func path() -> String { Self.paths[random.next(Self.paths.count)] }

    private func reopen() async throws {
      try await disk.flush().value
      try await disk.close().value
      disk = scene.open()
      cache = Self.cache(in: disk, origin, seconds)
    }

    private func ask() async throws {
      let path = path()
      let variant = random.next(VersionedOrigin.variants.count)
      var request = HTTPRequest(url: try #require(URL(string: "http://origin.test" + path)))
      request.headers.set(VersionedOrigin.variants[variant], for: "X")
      let isReload = random.next(6) == 0
      if isReload { request.headers.set("no-cache", for: "Cache-Control") }
      let (times, sizes) = origin.state.withLock { ($0.times[path] ?? [], $0.sizes[path] ?? []) }
      var range: ClosedRange<Int>?
      var condition: Int?
      if random.next(4) == 0 {
        let first = random.size(upTo: 1 << 22)
        range = first...first + random.size(upTo: 1 << 22)
        request.headers.set(range.map { "bytes=\($0.lowerBound)-\($0.upperBound)" }, for: "Range")
        if random.next(2) == 0 {
          condition = max(0, times.count - 1 - random.next(3))
          let tag = condition.map { VersionedOrigin.tag(of: $0, variant) }
          request.headers.set(tag, for: "If-Range")
        }
      }
      let mayBreak = origin.state.withLock { $0.breaksOff }
      let answer = Recorder<HTTPPart>().subscribe(to: cache.send(request))
      try await answer.ended()
      count += 1
      func complain(_ text: String) { complaint = "\(path) of \(variant): \(text)" }
      if let failure = answer.failure {
        if !mayBreak { complain("\(failure)") }
        return
      }
      guard case .head(let head)? = answer.values.first else { return complain("no head") }
      var bytes = Data()
      for case .body(let piece) in answer.values { bytes.append(piece) }
      let tag = head.headers["ETag"]
      if head.status == 416, let range {
        if !sizes.contains(where: { range.lowerBound >= $0 }) { complain("416") }
        return
      }
      guard
        let version = times.indices.last(where: {
          VersionedOrigin.isSame(VersionedOrigin.tag(of: $0, variant), tag)
        })
      else { return complain("the tag \(tag ?? "none")") }
      // A version is good until a minute after the next one; the ages of HTTP are whole seconds.
      let isOutdated =
        version + 1 < times.count && seconds.withLock { $0 } - times[version + 1] > 61
      if isOutdated || isReload && version + 1 < times.count {
        complain("version \(version) of \(times), a reload: \(isReload)")
      }
      var expected = VersionedOrigin.body(path, variant, version, size: sizes[version])
      if head.status == 206, let range {
        if let condition, condition != version { complain("206 for \(condition), not \(version)") }
        let end = min(range.upperBound, expected.count - 1)
        guard range.lowerBound <= end else { return complain("206 beyond the end") }
        let start = expected.startIndex
        expected = expected[start + range.lowerBound...start + end]
      } else if head.status != 200 {
        complain("status \(head.status)")
      }
      if bytes != expected {
        complain("\(bytes.count) bytes, not the \(expected.count) of version \(version)")
      }
    }
  }

  @Test(arguments: 0..<Effort.rounds(4, few: 2))
  func `each answer is one version in whole, of its variant, and no older than its origin allows`(
    seed: Int
  ) async throws {
    for round in 0..<Effort.rounds(10, few: 1) {
      let history = History(seed: seed + 100 * round)

      try await history.run(1_000)

      #expect(history.complaint == nil, "seed \(seed + 100 * round)")
      #expect(history.fetches < history.count)
    }
  }
}
