import LoopbackServer
import Synchronization

@testable import MillpondRedis

/// A server that answers each command with a text of the test's own, such as no real one sends.
final class ScriptedServer: Sendable {
  private let listener: ConnectionListener
  private let accepted: Accepted

  /// The number of connections so far.
  private final class Accepted: Sendable {
    let count = Atomic(0)
  }

  /// Listens on a free port.
  ///
  /// - Parameters:
  ///   - description: The description of the server, about which `answer` is not asked.
  ///   - answer: Returns the answer to a command, which may be empty, for the number of the
  ///     connection, from one on; nil ends the connection.
  init(
    description: String? = nil, _ answer: @escaping @Sendable (Int, [String]) -> String?
  ) throws {
    let accepted = Accepted()
    self.accepted = accepted
    listener = try ConnectionListener { stream, _ in
      let number = accepted.count.add(1, ordering: .relaxed).newValue
      var stream = stream
      try? Self.serve(&stream) { command in
        if command.first == "INFO" { return description.map { "+\($0)\r\n" } ?? "_\r\n" }
        return answer(number, command)
      }
      stream.close()
    }
  }

  deinit { listener.stop() }

  var port: UInt16 { listener.port }

  var connections: Int { accepted.count.load(ordering: .relaxed) }

  /// Returns a client without tracking.
  func client(deadline: Duration = .seconds(10)) throws -> Redis {
    try Redis(.tcp(host: "127.0.0.1", port: port), deadline: deadline, tracking: .off)
  }

  private static func serve(
    _ stream: inout ConnectionStream, _ answer: ([String]) -> String?
  ) throws {
    var parser = RESPParser()
    while true {
      try stream.receive()
      stream.take(.max).withUnsafeBytes { parser.append($0) }
      while case .array(let words) = try parser.next() {
        guard let text = answer(words.compactMap(\.text)) else { return }
        var count = 0
        try stream.send(Array(text.utf8)[...], counting: &count)
      }
    }
  }
}
