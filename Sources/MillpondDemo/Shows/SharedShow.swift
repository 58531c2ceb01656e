import Foundation
import LocalRedis
import Millpond
import MillpondRedis

/// Two processes with memory of their own over one server, which stay in step.
struct SharedShow: Sendable {
  private let screen: Screen

  init(_ screen: Screen) {
    self.screen = screen
  }

  /// - Returns: Whether everything was shown as intended; also true where no server is installed.
  func run() async throws -> Bool {
    if let port = SharedPeer.portOfFirst {
      try await SharedPeer(port: port).run()
      return true
    }
    guard LocalRedis.program != nil else {
      screen.say(
        "Neither redis-server nor valkey-server is installed, so there is nothing to show.")
      return true
    }
    let server = try LocalRedis()
    let here = try SharedPeer(port: server.port)
    try await here.follows()
    let other = try PeerProcess(port: server.port)
    screen.say(
      "A server runs on port \(server.port), and two processes use it, each with its own memory.")
    return try await keepInStep(here, other) && loseServer(server, other)
  }

  private func keepInStep(_ here: SharedPeer, _ other: PeerProcess) async throws -> Bool {
    screen.title("This process sets a value; the other one reads it, and has it in memory then.")
    _ = try await here.answer(to: "set level1")
    let first = [try show(other, "get"), try show(other, "get")]
    screen.title("This process sets another value; the other's memory forgets the old one.")
    _ = try await here.answer(to: "set level2")
    let second = [try show(other, "get"), try show(other, "get")]
    screen.title("The other process sets and removes; this one follows as well.")
    _ = try show(other, "set level3")
    let third = try await here.answer(to: "get")
    screen.say("here: \(third)")
    _ = try show(other, "remove")
    let fourth = try await here.answer(to: "get")
    screen.say("here: \(fourth)")
    return first == ["level1, from the server", "level1, from memory"]
      && second == ["level2, from the server", "level2, from memory"]
      && third == "level3, from the server" && fourth == "nothing"
  }

  private func loseServer(_ server: LocalRedis, _ other: PeerProcess) throws -> Bool {
    screen.title("The server is killed: memory is emptied before anything else is answered.")
    _ = try other.ask("set level4")
    server.kill()
    let without = try show(other, "get")
    try server.start()
    screen.title("It is back, empty, and both continue.")
    while try other.ask("set level5") != "done" {}
    return try without.hasPrefix("failed") && show(other, "get").hasPrefix("level5")
  }

  private func show(_ other: PeerProcess, _ command: String) throws -> String {
    let answer = try other.ask(command)
    screen.say("the other, \(command): \(answer)")
    return answer
  }
}
