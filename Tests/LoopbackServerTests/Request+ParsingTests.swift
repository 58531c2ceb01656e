import Testing

@testable import MillpondSockets

@Suite struct RequestParsingTests {
  @Test func `a head is read up to its blank line`() throws {
    let text = "GET /a%20b?c HTTP/1.1\r\nX:  spaced \r\nx: again\r\n\r\nrest"
    let head = try #require(try RequestHead.parse(Array(text.utf8)))

    #expect(head.request.method == "GET")
    #expect(head.request.path == "/a%20b?c")
    #expect(head.request.headers.fields.map(\.value) == ["spaced", "again"])
    #expect(head.request.keepsAlive)
    #expect(head.byteCount == text.utf8.count - 4)
    #expect(head.bodyByteCount == 0)
  }

  @Test func `every beginning of a head needs more`() throws {
    let bytes = Array("\r\nGET / HTTP/1.1\r\nContent-Length: 3\r\n\r\n".utf8)

    for count in 0..<bytes.count {
      #expect(try RequestHead.parse(Array(bytes.prefix(count))) == nil)
    }
    #expect(try RequestHead.parse(bytes)?.bodyByteCount == 3)
  }

  @Test func `lines may end in a bare line feed`() throws {
    let head = try RequestHead.parse(Array("GET / HTTP/1.1\nA: b\n\n".utf8))

    #expect(head?.request.headers["a"] == "b")
  }

  @Test(arguments: [
    ("GET / HTTP/1.1", true), ("GET / HTTP/1.0", false),
    ("GET / HTTP/1.1\r\nConnection: Upgrade, Close", false),
  ])
  func `version and Connection say whether the connection is kept`(
    text: String, isKept: Bool
  ) throws {
    let head = try RequestHead.parse(Array((text + "\r\n\r\n").utf8))

    #expect(head?.request.keepsAlive == isKept)
  }

  @Test(arguments: [
    "GET /", "GET  / HTTP/1.1", "GET / HTTP/2.0", "GET / HTTP/1.1 ", "GET x HTTP/1.1",
    "G\u{7f}T / HTTP/1.1", "G@T / HTTP/1.1", "GET /\u{0} HTTP/1.1",
    "GET / HTTP/1.1\r\nno colon", "GET / HTTP/1.1\r\nA : b", "GET / HTTP/1.1\r\n: b",
    "GET / HTTP/1.1\r\nA: b\r\n folded", "GET / HTTP/1.1\r\nA: b\rc",
    "GET / HTTP/1.1\r\nContent-Length: -1", "GET / HTTP/1.1\r\nContent-Length:",
    "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2",
  ])
  func `a malformed head is refused`(text: String) {
    #expect(throws: Refusal.malformed) {
      try RequestHead.parse(Array((text + "\r\n\r\n").utf8))
    }
  }

  @Test func `a head over the limit is refused, ended or not`() {
    let long = Array("GET / HTTP/1.1\r\nA: ".utf8) + Array(repeating: 65, count: 65_536)

    #expect(throws: Refusal.headTooLarge) { try RequestHead.parse(long) }
    #expect(throws: Refusal.headTooLarge) {
      try RequestHead.parse(long + Array("\r\n\r\n".utf8))
    }
  }

  @Test(arguments: [16 * 1024 * 1024 + 1, Int.max])
  func `a body over the limit is refused`(byteCount: Int) {
    let text = "PUT / HTTP/1.1\r\nContent-Length: \(byteCount)0\r\n\r\n"

    #expect(throws: Refusal.bodyTooLarge) { try RequestHead.parse(Array(text.utf8)) }
  }
}
