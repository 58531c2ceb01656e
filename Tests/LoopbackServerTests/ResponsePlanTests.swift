import Testing

@testable import LoopbackServer
@testable import MillpondSockets

@Suite struct ResponsePlanTests {
  private func plan(
    _ response: Response, method: String = "GET", keepsAlive: Bool = true
  ) -> [String] {
    let request = Request(
      method: method, path: "/", headers: [:], body: [], keepsAlive: keepsAlive)
    return ResponsePlan(response, to: request, latency: .seconds(9), bandwidth: nil).actions.map(
      describe)
  }

  private func describe(_ move: ResponsePlan.Action) -> String {
    switch move {
    case .wait(let duration): "wait \(duration.components.seconds)"
    case .hold: "hold"
    case .sendHead(let bytes):
      String(decoding: bytes, as: UTF8.self).split(separator: "\r\n").joined(separator: "|")
    case .sendBody(let bytes, let bandwidth):
      String(decoding: bytes, as: UTF8.self) + (bandwidth.map { " at \($0.bytesPerSecond)" } ?? "")
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
    let response = Response(body: Array("abc".utf8)).delayed(by: .zero).held(by: ResponseHold())
      .held(by: ResponseHold(), afterBodyBytes: 1).paced(bytesPerSecond: 7)

    #expect(
      plan(response)
        == ["hold", "HTTP/1.1 200 OK|Content-Length: 3", "a at 7", "hold", "bc at 7"])
  }

  @Test(arguments: [204, 304])
  func `some statuses have neither body nor length`(status: Int) {
    let actions = plan(Response(status: status, body: Array("ab".utf8)).delayed(by: .zero))

    #expect(actions.first?.contains("Content-Length") == false)
    #expect(actions.dropFirst().joined().isEmpty)
  }

  @Test func `a client that wants one answer learns that it is the last`() {
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
