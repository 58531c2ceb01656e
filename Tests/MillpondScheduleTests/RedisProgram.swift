import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Synchronization
import Testing
import MillpondSockets

@testable import MillpondRedis

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A client of a small server, both driven by the program.
final class RedisProgram: @unchecked Sendable {
  enum Answer { case answered, failed, wrong }

  let client: Redis
  private var node: RedisNode { client.loop.nodes[0] }
  private var driver: RedisConnectionDriver
  private var room = [UInt8](repeating: 0, count: 1_024)
  private let listener: Int32
  private let path = NSTemporaryDirectory() + "millpond-\(UUID().uuidString.prefix(8))"
  private var accepted: [(descriptor: Int32, parser: RESPParser)] = []

  private(set) var answers: [String: [Answer]] = [:]

  /// The commands that have arrived at the server, without those of the client's own.
  private(set) var received: [String] = []

  /// The values that the server has stored.
  private(set) var values: [String: String] = [:]

  /// Whether the server stores nothing more.
  var isFull = false

  init(tracking: RedisTracking = .off) {
    var settings = RedisSettings(
      address: .unix(path: path), database: 0, connections: 1, tracking: tracking,
      limits: ConnectionLimits(deadline: .max / 4, heartbeat: .max / 4, firstPause: 0))
    settings.chance = { 0 }
    guard let address = SocketAddress.unix(path: path), let client = try? Redis(settings),
      let listener = try? SocketCalls.open(family: address.family)
    else { preconditionFailure("the system has no sockets") }
    address.bytes.withUnsafeBytes { bytes in
      _ = bind(
        listener, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress,
        socklen_t(bytes.count))
    }
    _ = listen(listener, 8)
    let loop = client.loop
    driver = RedisConnectionDriver(loop.nodes[0], settings, loop.tracker, loop.wake)
    // The program does what the thread of the client does.
    loop.phase.store(.running, ordering: .relaxed)
    self.client = client
    self.listener = listener
  }

  deinit {
    for client in accepted { SocketCalls.close(client.descriptor) }
    SocketCalls.close(listener)
    unlink(path)
  }

  /// Makes the connection.
  func connect() {
    submit("first")
    for _ in 0..<6 { look() }
  }

  /// Submits a command, of which "read" may be repeated.
  func submit(_ name: String) {
    answers[name] = []
    node.submit(.command("ECHO", .text(name), isRepeatable: name == "read")) { result in
      switch result {
      case .success(let value): self.answers[name]?.append(value.text == name ? .answered : .wrong)
      case .failure: self.answers[name]?.append(.failed)
      }
    }
  }

  /// Does what the thread of the connections does in a turn, without waiting; then the server
  /// answers.
  func look() {
    _ = driver.tend(at: SocketCalls.now())
    var watches = [driver.watch]
    SocketCalls.wait(for: &watches, atMost: 0)
    client.loop.wake.clear()
    _ = driver.act(on: watches[0], &room)
    serve()
  }

  /// Ends the connections of the server.
  func hangUp() {
    for client in accepted { SocketCalls.close(client.descriptor) }
    accepted = []
  }

  /// Fails what is left.
  func close() {
    client.close()
    client.loop.closeAll()
  }

  /// Stores a value, and reports that to the client.
  func setElsewhere(_ key: String, to value: String) {
    values[key] = value
    let report = ">2\r\n$10\r\ninvalidate\r\n*1\r\n$\(key.utf8.count)\r\n\(key)\r\n"
    for client in accepted { send(report, to: client.descriptor) }
  }

  private func serve() {
    while case let descriptor = accept(listener, nil, nil), descriptor >= 0 {
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
      accepted.append((descriptor, RESPParser()))
    }
    for place in accepted.indices {
      var bytes = [UInt8](repeating: 0, count: 1_024)
      let result = bytes.withUnsafeMutableBytes { buffer in
        SocketCalls.receive(accepted[place].descriptor, into: buffer)
      }
      guard case .moved(let count) = result else { continue }
      bytes[..<count].withUnsafeBytes { accepted[place].parser.append($0) }
      while case .array(let words)? = next(of: place) {
        send(answer(words.compactMap(\.text)), to: accepted[place].descriptor)
      }
    }
  }

  private func send(_ text: String, to descriptor: Int32) {
    _ = Array(text.utf8).withUnsafeBytes { SocketCalls.send(descriptor, $0) }
  }

  private func next(of place: Int) -> RESPValue? {
    do { return try accepted[place].parser.next() } catch { return nil }
  }

  private func answer(_ words: [String]) -> String {
    switch words.first {
    case "HELLO": return "%1\r\n+id\r\n:1\r\n"
    case "ECHO":
      received.append(words.last ?? "")
      return "+\(words.last ?? "")\r\n"
    case "GET": return values[words[1]].map { "$\($0.utf8.count)\r\n\($0)\r\n" } ?? "_\r\n"
    case "SET", "EVAL":
      if isFull { return "-OOM x\r\n" }
      values[words[words.count - 2]] = words[words.count - 1]
      return "+OK\r\n"
    case "SCAN":
      let keys = values.keys.map { "$\($0.utf8.count)\r\n\($0)\r\n" }
      return "*2\r\n$1\r\n0\r\n*\(keys.count)\r\n" + keys.joined()
    case "UNLINK":
      for key in words.dropFirst() { values[key] = nil }
      return ":1\r\n"
    default: return "+OK\r\n"
    }
  }

  /// Checks that each command has one answer, once the thread of the connection has had its turns.
  func expectAnswers(_ program: ScheduleProgram) {
    program.whenQuiet { [self] in
      for _ in 0..<20 { look() }
      for (name, answers) in answers where answers.count != 1 || answers == [.wrong] {
        return "\(name) has the answers \(answers)"
      }
      submit("last")
      for _ in 0..<20 { look() }
      return answers["last"] == [.answered] ? nil : "the connection is of no use afterwards"
    }
  }
}
