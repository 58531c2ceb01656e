import Foundation
import MillpondTesting
import Testing

@testable import Millpond

/// Any text in any field: nothing traps, and what breaks the grammar never makes a response more
/// cacheable.
@Suite struct HTTPCacheFuzzTests {
  private static let pieces = [
    "max-age", "no-store", "no-cache", "stale-if-error", "stale-while-revalidate", "immutable",
    "must-revalidate", "max-stale", "min-fresh", "only-if-cached", "public", "private", "=", "=",
    ",", ",", " ", "\t", "\"", "\\", ";", "0", "60", "-1", "99999999999999999999", "W/", "\"a\"",
    "*", "\u{0}", "\u{7f}", "\u{301}", "é", "🦆", "bytes=", "bytes ", "-", "/", ":", "\r\n",
    "Thu, 01 Jan 2026 00:00:00 GMT", "Thu,", " 01 ", "Jan", "99:99:99", "9999", "0000", "GMT",
  ]

  private static let names = [
    "Cache-Control", "Cache-Control", "Expires", "Date", "Age", "ETag", "Last-Modified", "Vary",
    "Pragma", "Range", "If-Range", "If-None-Match", "If-Modified-Since", "Authorization",
    "Content-Range", "Content-Length", "Content-Encoding", "Connection", "Location", "",
  ]

  private static let statuses = [200, 200, 200, 206, 304, 404, 500, 503, 0, -1, 999, .max, .min]
  private static let methods = ["GET", "GET", "GET", "HEAD", "POST", "", "g"]

  @Test(arguments: 0..<16 as Range<UInt64>)
  func `any fields at any time give a decision`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let rules = HTTPCacheRules(staleIfUnreachable: .seconds(9))
    let url = try #require(URL(string: "http://example.org/a"))
    for _ in 0..<150 {
      let request = ParsedRequest(
        method: Self.methods.randomElement(using: &random) ?? "", headers: fields(&random))
      let head = HTTPHead(
        status: Self.statuses.randomElement(using: &random) ?? 0, headers: fields(&random))
      let storage = rules.storage(of: head, for: request)
      _ = rules.invalidated(by: request, url, head)
      let stored = StoredResponse(
        head, to: request, requestTime: time(&random), responseTime: time(&random),
        body: StoredBody(number: .none, byteCount: Int.random(in: 0...9, using: &random)))
      guard let stored else {
        #expect(storage.action == .pass)
        continue
      }
      check(stored, for: request, rules, &random)
    }
  }

  private func check(
    _ stored: StoredResponse, for request: ParsedRequest, _ rules: HTTPCacheRules,
    _ random: inout SeededGenerator
  ) {
    let now = time(&random)
    let decision = rules.decision(for: request, stored: stored, at: now)
    if decision.action == .answer, case .bytes(let part) = stored.part(for: request) {
      #expect(part.lowerBound >= 0 && part.upperBound <= stored.body.byteCount)
      _ = stored.head(of: part)
    }
    _ = rules.decision(for: request, stored: stored, afterFailure: nil, at: now)
    let other = HTTPHead(status: 304, headers: fields(&random))
    _ = stored.isDescribed(by: other)
    if stored.isConfirmed(by: other, isAsked: true) {
      _ = stored.updated(by: other, for: request, requestTime: now, responseTime: time(&random))
    }
  }

  @Test(arguments: 0..<16 as Range<UInt64>)
  func `a restriction holds whatever stands around it`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let request = ParsedRequest(method: "GET", headers: [:])
    for _ in 0..<150 {
      let junk = [text(&random), text(&random)]
      // A quotation that is in order may contain the word, and so may a name or an argument.
      if junk.contains(where: { $0.contains("\"") }) { continue }
      for separator in [", ", ",", "\t,"] {
        let value = "\(junk[0])\(separator)no-store\(separator)\(junk[1])"
        let head = HTTPHead(status: 599, headers: ["Cache-Control": value])
        #expect(CacheDirectives([value]).has(.noStore), "\(value)")
        #expect(HTTPCacheRules.standard.storage(of: head, for: request).action == .pass)
      }
    }
  }

  @Test func `a field of a hundred kilobytes is read`() {
    for text in [",", "a", "\"", "a=\"", "\\", "max-age=9,", "\"\\", "="] {
      let long = String(repeating: text, count: (1 << 17) / text.utf8.count)
      let directives = CacheDirectives([long])
      #expect(directives.maxAge == .absent || text.hasPrefix("max-age"))
      _ = EntityTag.isNamed(nil, in: [long])
      _ = StoredResponse.Part(long, of: 10)
      _ = HTTPDate(long)
      _ = ParsedResponse(status: 200, headers: ["Age": long, "Vary": long, "Expires": long])
    }
  }

  private func fields(_ random: inout SeededGenerator) -> HeaderFields {
    HeaderFields(
      (0..<Int.random(in: 0...6, using: &random)).map { _ in
        (name: Self.names.randomElement(using: &random) ?? "", value: text(&random))
      })
  }

  private func text(_ random: inout SeededGenerator) -> String {
    (0..<Int.random(in: 0...8, using: &random))
      .compactMap { _ in Self.pieces.randomElement(using: &random) }.joined()
  }

  private func time(_ random: inout SeededGenerator) -> WallTime {
    switch Int.random(in: 0...5, using: &random) {
    case 0: WallTime(microseconds: .random(in: .min ... .max, using: &random))
    case 1: WallTime(microseconds: [.min, .max, 0, -1].randomElement(using: &random) ?? 0)
    default: CachingRow.time(.random(in: -99...99, using: &random))
    }
  }
}
