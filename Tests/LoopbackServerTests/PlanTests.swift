import Testing

@testable import LoopbackServer

@Suite struct PlanTests {
  private func plan(
    _ response: Response, method: String = "GET", keepsAlive: Bool = true
  ) -> [String] {
    let request = Request(
      method: method, path: "/", headers: [:], body: [], keepsAlive: keepsAlive)
    return Plan(response, to: request, latency: .seconds(9), pace: nil).moves.map(describe)
  }

  private func describe(_ move: Plan.Move) -> String {
    switch move {
    case .wait(let duration): "wait \(duration.components.seconds)"
    case .hold: "hold"
    case .sendHead(let bytes):
      String(decoding: bytes, as: UTF8.self).split(separator: "\r\n").joined(separator: "|")
    case .sendBody(let bytes, let pace):
      String(decoding: bytes, as: UTF8.self) + (pace.map { " at \($0.bytesPerSecond)" } ?? "")
    case .close: "close"
    case .reset: "reset"
    }
  }

  @Test func `a message waits, and then sends its head and its body`() {
    #expect(
      plan(Response(body: Array("ab".utf8)))
        == ["wait 9", "HTTP/1.1 200 OK|Content-Length: 2", "ab"])
  }

  @Test func `holds stand before the head and within the body`() {
    let response = Response(body: Array("abc".utf8)).delayed(by: .zero).held(by: Hold())
      .held(by: Hold(), afterBodyBytes: 1).paced(bytesPerSecond: 7)

    #expect(
      plan(response)
        == ["hold", "HTTP/1.1 200 OK|Content-Length: 3", "a at 7", "hold", "bc at 7"])
  }

  @Test(arguments: [204, 304])
  func `some statuses have neither body nor length`(status: Int) {
    let moves = plan(Response(status: status, body: Array("ab".utf8)).delayed(by: .zero))

    #expect(moves.first?.contains("Content-Length") == false)
    #expect(moves.dropFirst().joined().isEmpty)
  }

  @Test func `a client that wants one answer is told that it is the last`() {
    #expect(
      plan(Response().delayed(by: .zero), keepsAlive: false)
        == ["HTTP/1.1 200 OK|Content-Length: 0|Connection: close", "", "close"])
  }

  @Test func `a length stated to HEAD is believed`() {
    let response = Response(headers: ["content-length": "99"]).delayed(by: .zero)

    #expect(plan(response, method: "HEAD") == ["HTTP/1.1 200 OK|content-length: 99", ""])
    #expect(plan(response).last == "close")
  }

  @Test func `a script is its steps`() {
    #expect(plan(.scripted([.text("a"), .wait(.seconds(1)), .reset])) == ["a", "wait 1", "reset"])
  }
}
