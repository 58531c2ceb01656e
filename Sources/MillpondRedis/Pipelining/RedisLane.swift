import MillpondCore
import MillpondSignals

/// One connection of a client, as every thread sees it: the acting part of a ``RedisPipeline``.
///
/// A key has one lane, so the commands of a key are carried out in the order of their submission,
/// and its invalidations arrive between the answers where the server put them.
final class RedisLane: Sendable {
  let number: Int
  private let limits: PipelineLimits
  private let wake: WakeSignal
  private let state: Locked<State>

  struct State: Sendable {
    var pipeline: RedisPipeline
    var socket: RedisSocket?

    /// The order of the writes of each cache's keys, by the number of the cache.
    var orders: [Int: WriteOrder<String>] = [:]

    /// The addresses of the host, once they have been looked up.
    var addresses: [SocketAddress]?

    /// Whether the server refused to track, so that the connection is of no use.
    var isTrackingRefused = false
  }

  init(_ number: Int, _ limits: PipelineLimits, _ wake: WakeSignal) {
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
    _ answer: @escaping RedisAnswer,
    _ make: (inout [Int: WriteOrder<String>]) -> RedisRequest?
  ) -> Bool {
    let now = SystemCalls.now()
    let step = state.withLock { state -> RedisPipeline.Step? in
      guard let request = make(&state.orders) else { return nil }
      let reply = PendingReply(request: request, deadline: now + limits.deadline, answer: answer)
      return state.pipeline.submit(reply, at: now)
    }
    guard let step else { return false }
    switch step {
    case .nothing: break
    case .send: flush()
    case .wake: wake.send()
    case .sendAndWake:
      flush()
      wake.send()
    case .refuse(let error): answer(.failure(error))
    }
    return true
  }

  /// Sends what is to be sent, unless another thread does.
  func flush() {
    while true {
      let work = state.withLock { state in
        state.socket.flatMap { socket in
          state.pipeline.beginWriting().map { (socket, $0.bytes, $0.generation) }
        }
      }
      guard let (socket, bytes, generation) = work else { return }
      let (rest, isBlocked) = socket.send(bytes)
      state.withLock {
        $0.pipeline.endWriting(rest: rest, isBlocked: isBlocked, generation: generation)
      }
      // The thread of the connections waits until there is room.
      if isBlocked { return wake.send() }
    }
  }

  /// Runs `body` with the state; only our own pure code.
  func withState<Result>(_ body: (inout State) -> Result) -> Result {
    state.withLock(body)
  }
}
