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

    let result = policy.next(after: try request(), status: 302, to: try url(address))

    #expect(throws: TransferError.self) { try result.get() }
  }

  @Test func `20 redirects are followed, and the 21st is refused`() throws {
    var policy = RedirectPolicy()
    var request = try request()

    for number in 1...20 {
      request = try policy.next(
        after: request, status: 302, to: try url("https://example.com/\(number)")
      ).get()
    }
    let last = policy.next(after: request, status: 302, to: try url("https://example.com/21"))

    #expect(request.url.path() == "/20")
    #expect(throws: URLError(.httpTooManyRedirects)) { try last.get() }
  }

  private func request() throws -> HTTPRequest { HTTPRequest(url: try url("https://example.com")) }

  private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }
}
