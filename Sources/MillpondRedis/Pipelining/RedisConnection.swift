import MillpondCore
import MillpondSignals
import MillpondSockets

/// One connection of a client, as every thread sees it: the acting part of a ``RedisPipeline``.
///
/// A key has one connection, so its commands are carried out in the order of their submission, and
/// its invalidations arrive between the answers where the server put them.
final class RedisConnection: Sendable {
  let number: Int
  private let limits: ConnectionLimits
  private let wake: WakePipe
  private let state: Locked<State>

  struct State: Sendable {
    var pipeline: RedisPipeline
    var link: (any RedisLink)?

    var counts = ConnectionCounts()

    /// The order of the writes of each cache's keys, by the number of the cache.
    var orders: [Int: WriteOrder<String>] = [:]

    /// The places of the server, once they have been looked up, or why there are none.
    var places: Result<ServerPlaces, RedisError>?

    /// Whether they are being looked up.
    var isLookingUp = false

    /// This connection and lost ones that the server may still have, by the server's numbers.
    var sessions: [RedisSession] = []

    fileprivate mutating func beginWriting() -> Writing? {
      guard let link, let output = pipeline.beginWriting() else { return nil }
      return Writing(link: link, output: output)
    }
  }

  /// The work of the only writer.
  fileprivate struct Writing: Sendable {
    let link: any RedisLink
    var output: LinkOutput
  }

  init(_ number: Int, _ limits: ConnectionLimits, _ wake: WakePipe) {
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
  /// - Parameters:
  ///   - answer: Receives the answer.
  ///   - takeBack: The command that takes back what this one has left, should its answer not arrive
  ///     in time.
  ///   - make: Returns the command, with the orders of all caches.
  /// - Returns: Whether there was a command.
  func submit(
    _ answer: @escaping RedisAnswer, takeBack: RedisRequest? = nil,
    _ make: (inout [Int: WriteOrder<String>]) -> RedisRequest?
  ) -> Bool {
    submit(answer, takeBack.map { .by($0) } ?? .nothing, isOwn: false, make)
  }

  private func submit(
    _ answer: @escaping RedisAnswer, _ takeBack: TakeBack, isOwn: Bool,
    _ make: (inout [Int: WriteOrder<String>]) -> RedisRequest?
  ) -> Bool {
    let now = SocketCalls.now()
    var writing: Writing?
    let step = state.withLock { state -> RedisPipeline.Step? in
      guard let request = make(&state.orders) else { return nil }
      let reply = PendingReply(
        request: request, deadline: now + limits.deadline, answer: answer, takeBack: takeBack,
        isOwn: isOwn)
      let step = state.pipeline.submit(reply, at: now)
      if step == .send || step == .sendAndWake { writing = state.beginWriting() }
      return step
    }
    guard let step else { return false }
    send(&writing)
    switch step {
    case .nothing, .send: break
    case .wake, .sendAndWake: wake.signal()
    case .refuse(let error): answer(.failure(error))
    }
    return true
  }

  /// Sends a command of the client itself, for which the limits do not hold.
  func submitOwn(_ request: RedisRequest, _ answer: @escaping RedisAnswer = { _ in }) {
    _ = submit(answer, .nothing, isOwn: true) { _ in request }
  }

  /// Sends a command that takes back what an earlier one has left, at once or first of all on the
  /// next connection, until the server has answered it.
  func takeBack(_ request: RedisRequest) {
    _ = submit({ _ in }, .itself, isOwn: true) { _ in request }
  }

  /// Begins to send commands on a connection that the server calls `session`, after those that end
  /// the lost ones before it, and some reads.
  func becomeReady(
    as session: RedisSession?, reading reads: [RedisTracker.Read] = [], at now: Int64
  ) {
    withState { state in
      let reads = reads.map {
        PendingReply(request: $0.request, deadline: now, answer: $0.answer, isOwn: true)
      }
      var ending: [PendingReply] = []
      if let session {
        state.sessions.removeAll { $0.run != session.run || $0 == session }
        ending = state.sessions.map { former in
          PendingReply(
            request: former.ending, deadline: now, answer: { self.ended(former, $0) }, isOwn: true)
        }
        state.sessions.append(session)
        if state.sessions.count > RedisSession.limit { state.sessions.removeFirst() }
      }
      state.pipeline.becomeReady(at: now, first: ending + reads)
    }
    flush()
  }

  private func ended(_ session: RedisSession, _ result: Result<RESPValue, RedisError>) {
    switch result {
    case .success, .failure(.server): withState { $0.sessions.removeAll { $0 == session } }
    case .failure: break
    }
  }

  /// Sends what is to be sent, unless another thread does.
  func flush() {
    var writing = state.withLock { $0.beginWriting() }
    send(&writing)
  }

  /// Ends a delivery, and sends what receivers have submitted meanwhile.
  func uncork() {
    withState { $0.pipeline.uncork() }
    flush()
  }

  private func send(_ next: inout Writing?) {
    // Taken out, so that the room of the bytes has one owner and is used again.
    while var writing = exchange(&next, with: nil) {
      let before = writing.output.sent
      writing.link.send(&writing.output)
      let (sent, isBlocked) = (writing.output.sent - before, writing.output.isBlocked)
      next = state.withLock { state in
        state.counts.bytesSent += sent
        state.pipeline.endWriting(&writing.output)
        return state.beginWriting()
      }
      // The thread of the connections waits until there is room.
      if isBlocked { wake.signal() }
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
