import Testing

@testable import MillpondSockets

@Suite struct HeadersTests {
  @Test func `names compare without regard to case and the first value counts`() {
    let headers: Headers = ["Set-Cookie": "a", "set-cookie": "b"]

    #expect(headers["SET-COOKIE"] == "a")
    #expect(headers["Cookie"] == nil)
    #expect(headers.allValues(of: "Set-Cookie") == ["a", "b"])
  }

  @Test func `setting replaces every field of the name`() {
    var headers: Headers = ["A": "1", "B": "2", "a": "3"]

    headers["A"] = "4"
    #expect(headers.fields.map(\.value) == ["2", "4"])
    headers["b"] = nil

    #expect(headers.fields.map(\.name) == ["A"])
  }

  @Test func `a list is searched by whole words`() {
    let headers = Headers([("Connection", "Keep-Alive ,\tClose"), ("Connection", "upgrade")])

    #expect(headers.lists("close", in: "connection"))
    #expect(headers.lists("Upgrade", in: "connection"))
    #expect(!headers.lists("keep", in: "connection"))
  }
}
