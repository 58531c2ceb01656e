import MillpondSockets
import Testing

@testable import MillpondInspector

@Suite struct RequestAdmissionTests {
  let gate = RequestAdmission(token: AccessToken([1, 2, 3, 4]), port: 8_080)

  /// Returns the part that is asked for, or the status of the refusal.
  func answer(
    _ method: String = "GET", _ rest: String = "", host: String? = "127.0.0.1:8080",
    origin: String? = nil, more: String = ""
  ) throws -> (route: RequestAdmission.Route?, status: Int) {
    var text = "\(method) /\(gate.token.text)/\(rest) HTTP/1.1\r\n"
    if let host { text += "Host: \(host)\r\n" }
    if let origin { text += "Origin: \(origin)\r\n" }
    let head = try #require(try RequestHead.parse(Array((text + more + "\r\n").utf8)))
    do throws(RequestAdmission.Refused) {
      return (try gate.route(head), 200)
    } catch {
      return (nil, error.status)
    }
  }

  @Test func `the page and its states are given to a browser on this machine`() throws {
    #expect(try answer().route == .page)
    #expect(try answer("GET", "events").route == .events)
    #expect(try answer(host: "localhost:8080").route == .page)
    #expect(try answer(host: "LocalHost:8080", origin: "http://localhost:8080").route == .page)
  }

  @Test func `a change needs the page's own origin`() throws {
    #expect(try answer("POST", "remove", origin: "http://127.0.0.1:8080").route == .remove)
    #expect(try answer("POST", "trim", origin: "http://127.0.0.1:8080").route == .trim)
    #expect(try answer("POST", "remove").status == 403)
  }

  @Test(arguments: [
    nil, "", "evil.example", "evil.example:8080", "127.0.0.1", "127.0.0.1:80",
    "127.0.0.1:8080.evil",
    "[::1]:8080", "127.0.0.1:8080, evil.example",
  ])
  func `a request for another host is refused`(host: String?) throws {
    #expect(try answer(host: host).status == 403)
  }

  @Test func `two hosts are refused`() throws {
    #expect(try answer(more: "Host: 127.0.0.1:8080\r\n").status == 403)
  }

  @Test(arguments: [
    "http://evil.example", "null", "https://127.0.0.1:8080", "http://127.0.0.1:8081",
    "http://localhost:8080", "http://127.0.0.1:8080/", "",
  ])
  func `a request of another origin is refused`(origin: String) throws {
    #expect(try answer(origin: origin).status == 403)
    #expect(try answer("POST", "remove", origin: origin).status == 403)
  }

  @Test(arguments: ["x", "events/", "events?", "?", "remove/..", "%65vents", "../x"])
  func `there is nothing else`(rest: String) throws {
    #expect(try answer("GET", rest).status == 404)
  }

  @Test(arguments: [
    ("POST", ""), ("HEAD", ""), ("OPTIONS", ""), ("POST", "events"), ("GET", "remove"),
    ("PUT", "trim"),
  ])
  func `a method of another kind is refused`(method: String, rest: String) throws {
    #expect(try answer(method, rest, origin: "http://127.0.0.1:8080").status == 405)
  }

  @Test func `a body is short, and its length is known`() throws {
    let origin = "http://127.0.0.1:8080"
    let limit = RequestAdmission.bodyByteLimit
    let more = { (count: Int) in "Content-Length: \(count)\r\n" }
    #expect(try answer("POST", "remove", origin: origin, more: more(limit)).status == 200)
    #expect(try answer("POST", "remove", origin: origin, more: more(limit + 1)).status == 413)
    let chunked = "Transfer-Encoding: chunked\r\n"
    #expect(try answer("POST", "remove", origin: origin, more: chunked).status == 411)
  }
}
