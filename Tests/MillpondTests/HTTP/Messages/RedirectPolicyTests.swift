import Foundation
import Testing

@testable import Millpond

@Suite struct RedirectPolicyTests {
  @Test(arguments: [
    ("/b?c=1", "https://example.com/b?c=1"), ("b", "https://example.com/a/b"),
    ("//other.org/b", "https://other.org/b"), ("http://other.org", "http://other.org"),
  ])
  func `a location is resolved against the URL of the request`(
    location: String, target: String
  ) throws {
    let url = try #require(URL(string: "https://example.com/a/index"))

    #expect(RedirectPolicy.target(location, from: url)?.absoluteString == target)
  }

  @Test func `without a location there is no target`() {
    #expect(RedirectPolicy.target(nil, from: URL(string: "https://example.com")) == nil)
  }

  @Test(arguments: ["file:///etc/passwd", "ftp://example.com/a", "https:///a", "data:,a"])
  func `a target that is no web address is refused`(address: String) throws {
    var policy = RedirectPolicy()

    let result = policy.next(after: try request(), by: HTTPHead(status: 302), to: try url(address))

    #expect(throws: TransferError.self) { try result.get() }
  }

  @Test func `20 redirects are followed, and the 21st is refused`() throws {
    var policy = RedirectPolicy()
    var request = try request()

    for number in 1...20 {
      request = try policy.next(
        after: request, by: HTTPHead(status: 302), to: try url("https://example.com/\(number)")
      ).get()
    }
    let last = policy.next(
      after: request, by: HTTPHead(status: 302), to: try url("https://example.com/21"))

    #expect(request.url.path() == "/20")
    #expect(throws: URLError(.httpTooManyRedirects)) { try last.get() }
  }

  @Test(
    arguments: [
      (301, "", nil), (308, "", nil), (302, "", 0), (303, "", 0), (307, "", 0),
      (302, "max-age=60", 60), (301, "max-age=60", 60), (308, "max-age=0", 0),
      (301, "no-store", 0), (301, "no-cache", 0), (307, "no-store, max-age=60", 0),
      (301, "max-age=60, no-cache", 0),
    ] as [(Int, String, Int?)])
  func `a redirect is good for as long as it says, and a permanent one without end`(
    status: Int, terms: String, seconds: Int?
  ) throws {
    let head = HTTPHead(status: status, headers: terms.isEmpty ? [:] : ["Cache-Control": terms])

    let next = try request().redirected(by: head, to: try url("https://example.com/a"))

    #expect(
      next.redirection
        == Redirection(
          leftOrigin: false, lifetimes: seconds.map { [.seconds($0)] } ?? []))
  }

  @Test func `several redirects are good for as long as the shortest`() throws {
    let heads = [60, 10, 30].map {
      HTTPHead(status: 307, headers: ["Cache-Control": "max-age=\($0)"])
    }
    let forever = HTTPHead(status: 301)
    let target = try url("https://example.com/a")

    let last = try (heads + [forever]).reduce(request()) { $0.redirected(by: $1, to: target) }

    #expect(last.redirection == Redirection(leftOrigin: false, lifetimes: [.seconds(10)]))
  }

  private func request() throws -> HTTPRequest { HTTPRequest(url: try url("https://example.com")) }

  private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }
}
