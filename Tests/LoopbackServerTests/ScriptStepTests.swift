import LoopbackServer
import TestTraits
import Testing

@Suite struct ScriptStepTests {
  static let head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"

  private func origin(_ steps: [ScriptStep]) throws -> (LoopbackServer, Client) {
    let origin = try LoopbackServer(latency: .seconds(3_600)) { _ in .scripted(steps) }
    let client = try Client(port: origin.port)
    client.get("/")
    return (origin, client)
  }

  @Test func `bytes are sent as they are and close ends in good order`() throws {
    let (origin, client) = try origin([.text("not "), .send(Array("HTTP".utf8)), .close])

    #expect(client.readToEnd() == ("not HTTP", .orderly))
    #expect(origin.wait { $0.exchanges.map(\.outcome) == [.served] && $0.openConnections == 0 })
  }

  @Test func `reset ends with a reset`() throws {
    let (origin, client) = try origin([.text(Self.head + "12345"), .reset])

    #expect(client.readToEnd().end == .reset)
    #expect(origin.wait { $0.exchanges.map(\.outcome) == [.served] && $0.openConnections == 0 })
  }

  @Test func `after a script without an end the connection is kept`() throws {
    let (origin, client) = try origin([.text(Self.head), .text("1234567890")])

    #expect(client.readReply().body == "1234567890")
    client.get("/")
    #expect(client.readReply().body == "1234567890")
    #expect(origin.requestCount(path: "/") == 2)
  }

  @Test func `holds are passed one after another`() throws {
    let first = ResponseHold()
    let second = ResponseHold()
    let (origin, client) = try origin([.text("1"), .hold(first), .text("2"), .hold(second), .close])
    #expect(client.read(1) == "1")

    first.release()
    #expect(client.read(1) == "2")
    #expect(origin.exchanges.map(\.outcome) == [.pending])
    second.release()

    #expect(client.readToEnd().end == .orderly)
  }

  @Test func `a wait takes its time`() throws {
    let start = ContinuousClock.now
    let (origin, client) = try origin([.wait(.milliseconds(30)), .text("late"), .close])

    #expect(client.readToEnd().text == "late")
    #expect(start.duration(to: .now) >= .milliseconds(30))
    #expect(origin.wait { $0.exchanges.map(\.outcome) == [.served] })
  }

  @Test func `a client that closes in a script is recorded with every byte it was sent`() throws {
    let (origin, client) = try origin([.text("12345"), .hold(ResponseHold())])
    #expect(client.read(5) == "12345")

    client.hangUp()

    #expect(origin.wait { $0.exchanges.map(\.outcome) == [.clientClosed(bodyBytesSent: 5)] })
  }
}
