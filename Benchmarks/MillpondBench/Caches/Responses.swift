import Foundation
import Millpond

/// Returns decisions of the rules of HTTP caching, and fresh hits of an HTTP cache.
func responseRows() -> [Row] {
  [
    Row(
      "http-decision", "a decision about a stored response with 12 fields",
      target: 1_000, beside: .objects(4), .decisions),
    Row(
      "http-fresh-hit", "a fresh response with 12 fields from an HTTP cache over memory",
      target: 3_000, beside: .objects(4), .freshHits),
  ]
}

extension Work {
  fileprivate static let decisions = Work { operations in
    let response = StoredPage()
    let rules = HTTPCacheRules()
    var sum = 0
    for _ in 0..<operations
    where rules.decision(for: response.request, stored: response.stored, at: response.now).isAnswer
    {
      sum += 1
    }
    return sum
  }

  fileprivate static let freshHits = summing(expected: { $0 * 3 }) { sum, operations in
    let page = StoredPage()
    let cache = HTTPCache(
      over: PageTransport(head: page.head), in: MemoryCache(countLimit: 100), now: { page.now })
    cache.send(page.request).subscribe()
    for _ in 0..<operations {
      cache.send(page.request).subscribe(onNext: { part in
        if case .body(let bytes) = part { sum.add(bytes.count) }
      })
    }
  }
}

/// A response with twelve fields that is fresh.
private struct StoredPage {
  let now = Date(timeIntervalSince1970: 1_767_225_605)
  let request: HTTPRequest
  let head: HTTPHead
  let stored: StoredResponse?

  init() {
    request = HTTPRequest(
      url: URL(string: "https://example.org/images/a.png?size=2") ?? URL(filePath: "/"),
      headers: ["Accept": "image/*", "Accept-Encoding": "gzip", "User-Agent": "bench"])
    head = HTTPHead(
      status: 200,
      headers: [
        "Date": "Thu, 01 Jan 2026 00:00:00 GMT", "Content-Type": "image/png", "Server": "bench",
        "Content-Length": "3", "ETag": "\"33a64df5\"", "Accept-Ranges": "bytes",
        "Last-Modified": "Wed, 31 Dec 2025 00:00:00 GMT", "Vary": "Accept-Encoding",
        "Cache-Control": "public, max-age=600, stale-while-revalidate=60", "X-Cache": "HIT",
        "X-Content-Type-Options": "nosniff", "Strict-Transport-Security": "max-age=63072000",
      ])
    stored = StoredResponse(
      head, to: request, requestTime: now.addingTimeInterval(-5),
      responseTime: now.addingTimeInterval(-5))
  }
}

private struct PageTransport: HTTPTransport {
  let head: HTTPHead

  func send(_ request: HTTPRequest) -> Signal<HTTPPart> {
    .from([.head(head), .body(Data([1, 2, 3]))])
  }
}
