import Foundation
import MillpondSignals

@testable import MillpondRedis

/// A stream whose server answers each command with a text of the test's own.
final class ScriptedStream: RedisStream {
  private let answer: @Sendable ([String]) throws -> String?
  private let pieceSize: Int
  private let state = Locked(State())

  private struct State: Sendable {
    var receive: @Sendable (RedisStreamEvent) -> Void = { _ in }
    var parser = RESPParser()
    var output = Data()
    var isAsked = false
    var isWriting = false
    var isHeld = false
    var seen = Seen()
  }

  /// What the client has done.
  struct Seen: Sendable {
    var commands: [[String]] = []
    var closes = 0

    /// The writes during another one, and the pieces that were not asked for.
    var overlaps = 0
    var doubleReads = 0
  }

  var seen: Seen { state.withLock { $0.seen } }

  /// Creates a stream.
  ///
  /// - Parameters:
  ///   - pieceSize: The number of bytes of an event.
  ///   - answer: Returns the answer to a command, or to `CONNECT`; nil for none, or throws to end the
  ///     stream.
  init(pieceSize: Int = .max, _ answer: @escaping @Sendable ([String]) throws -> String?) {
    self.pieceSize = pieceSize
    self.answer = answer
  }

  /// Lets no write end, until ``release()``.
  func hold() { state.withLock { $0.isHeld = true } }

  /// Ends the present write and later ones.
  func release() {
    state.withLock { $0.isHeld = false }
    endWriting()
  }

  /// Sends an event to the client.
  func send(_ event: RedisStreamEvent) { state.withLock { $0.receive }(event) }

  func connect(_ receive: @escaping @Sendable (RedisStreamEvent) -> Void) {
    state.withLock { $0.receive = receive }
    runInBackground { [answer] in
      do {
        if try answer(["CONNECT"]) != nil { receive(.connected) }
      } catch {
        receive(.ended(error))
      }
    }
  }

  func read() {
    state.withLock { state in
      if exchange(&state.isAsked, with: true) { state.seen.doubleReads += 1 }
    }
    deliver()
  }

  func write(_ bytes: Data) {
    let commands = state.withLock { state -> [[String]] in
      if exchange(&state.isWriting, with: true) { state.seen.overlaps += 1 }
      bytes.withUnsafeBytes { state.parser.append($0) }
      var commands: [[String]] = []
      while case .array(let words)? = try? state.parser.next() {
        commands.append(words.map { $0.text ?? "" })
      }
      state.seen.commands += commands
      return commands
    }
    // On another thread, as streams do.
    runInBackground { [self] in
      for command in commands {
        guard let text = try? answer(command) else { continue }
        state.withLock { $0.output += Data(text.utf8) }
      }
      endWriting()
    }
  }

  private func endWriting() {
    let receive = state.withLock { state -> (@Sendable (RedisStreamEvent) -> Void)? in
      if state.isHeld { return nil }
      state.isWriting = false
      return state.receive
    }
    receive?(.written)
    deliver()
  }

  func close() { state.withLock { $0.seen.closes += 1 } }

  private func deliver() {
    let piece = state.withLock { state -> Data? in
      guard state.isAsked, !state.output.isEmpty else { return nil }
      state.isAsked = false
      let piece = Data(state.output.prefix(pieceSize))
      state.output = Data(state.output.dropFirst(pieceSize))
      return piece
    }
    if let piece { send(.received(piece)) }
  }
}
