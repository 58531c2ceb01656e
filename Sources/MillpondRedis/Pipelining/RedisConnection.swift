import MillpondCore
import MillpondSignals

/// One connection of a client, as every thread sees it: the acting part of a ``RedisPipeline``.
///
/// A key has one connection, so its commands are carried out in the order of their submission, and
/// its invalidations arrive between the answers where the server put them.
final class RedisConnection: Sendable {
  let number: Int
  private let limits: ConnectionLimits
  private let wake: RedisWakePipe
  private let state: Locked<State>

  struct State: Sendable {
    var pipeline: RedisPipeline
    var socket: RedisSocket?

    /// The order of the writes of each cache's keys, by the number of the cache.
    var orders: [Int: WriteOrder<String>] = [:]

    /// The addresses of the host, once they have been looked up.
    var addresses: [SocketAddress]?

    /// Whether they are being looked up.
    var isLookingUp = false

    /// Whether the server refused to track, or did not confirm it in time, so that the connection is
    /// of no use.
    var isTrackingRefused = false

    fileprivate mutating func beginWriting() -> Writing? {
      guard let socket, let output = pipeline.beginWriting() else { return nil }
      return Writing(socket: socket, output: output)
    }
  }

  /// The work of the only writer.
  fileprivate struct Writing: Sendable {
    let socket: RedisSocket
    var output: SocketOutput
  }

  init(_ number: Int, _ limits: ConnectionLimits, _ wake: RedisWakePipe) {
    self.number = number
    self.limits = limits
    self.wake = wake
    state = Locked(State(pipeline: RedisPipeline(limits)))
  }

  /// Submits a command; its answer arrives on the thread of the connections.
  ///
  /// If the command can't be sent, the answer is a failure inside this call.
  func submit(_ request: RedisRequest, _ answer: @escaping RedisAnswer) {
    _ = submit(answer) { _ in request }
  }

  /// Submits a command that is made under the lock of the orders, unless that makes none.
  ///
  /// - Returns: Whether there was a command.
  func submit(
    _ answer: @escaping RedisAnswer, isTakingBack: Bool = false,
    _ make: (inout [Int: WriteOrder<String>]) -> RedisRequest?
  ) -> Bool {
    let now = SocketCalls.now()
    var writing: Writing?
    let step = state.withLock { state -> RedisPipeline.Step? in
      guard let request = make(&state.orders) else { return nil }
      let reply = PendingReply(
        request: request, deadline: now + limits.deadline, answer: answer,
        isTakingBack: isTakingBack)
      let step = state.pipeline.submit(reply, at: now)
      if step == .send || step == .sendAndWake { writing = state.beginWriting() }
      return step
    }
    guard let step else { return false }
    send(&writing)
    switch step {
    case .nothing, .send: break
    case .wake, .sendAndWake: wake.send()
    case .refuse(let error): answer(.failure(error))
    }
    return true
  }

  /// Sends a command that takes back what an earlier one may have left, at once or first of all on
  /// the next connection, until the server has answered it.
  func takeBack(_ request: RedisRequest) {
    let answer: RedisAnswer = { result in
      switch result {
      case .success, .failure(.server), .failure(.closed): break
      case .failure: self.takeBack(request)
      }
    }
    _ = submit(answer, isTakingBack: true) { _ in request }
  }

  /// Sends what is to be sent, unless another thread does.
  func flush() {
    var writing = state.withLock { $0.beginWriting() }
    send(&writing)
  }

  /// Ends a delivery, and sends what receivers have submitted meanwhile.
  func uncork() {
    var writing = state.withLock { state in
      state.pipeline.uncork()
      return state.beginWriting()
    }
    send(&writing)
  }

  private func send(_ next: inout Writing?) {
    // Taken out, so that the room of the bytes has one owner and is used again.
    while var writing = exchange(&next, with: nil) {
      writing.socket.send(&writing.output)
      let isBlocked = writing.output.isBlocked
      next = state.withLock { state in
        state.pipeline.endWriting(&writing.output)
        return state.beginWriting()
      }
      // The thread of the connections waits until there is room.
      if isBlocked { wake.send() }
    }
  }

  /// The number of the connection that commands are sent on at present; nil if there is none.
  var generation: Int? {
    withState { $0.pipeline.phase == .ready ? $0.pipeline.generation : nil }
  }

  /// Runs `body` with the state; only our own pure code.
  func withState<Result>(_ body: (inout State) -> Result) -> Result {
    state.withLock(body)
  }
}
