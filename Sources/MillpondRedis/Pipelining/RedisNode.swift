import MillpondSignals

/// A server that a connection leads to: in a cluster one of its primaries, else the only one.
struct RedisNode: Sendable {
  let connection: RedisConnection

  /// Its place among the nodes of the connection.
  let place: Int

  /// The number by which the tracker knows it, among those of all connections.
  var number: Int { connection.number + place }

  /// Submits a command to this server; its answer arrives on the thread of the connections.
  func submit(_ request: RedisRequest, _ answer: @escaping RedisAnswer) {
    _ = connection.submit(to: place) { deadline, _ in
      PendingReply(request: request, deadline: deadline, answer: answer)
    }
  }

  /// Sends a command of the client itself, for which the limits do not hold.
  func submitOwn(_ request: RedisRequest, _ answer: @escaping RedisAnswer = { _ in }) {
    _ = connection.submit(to: place) { deadline, _ in
      PendingReply(request: request, deadline: deadline, answer: answer, isOwn: true)
    }
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
  func flush() { connection.flush(place) }

  /// Ends a delivery, and sends what receivers have submitted meanwhile.
  func uncork() {
    withState { $0.pipeline.uncork() }
    flush()
  }

  /// The number of the connection that commands are sent on at present; nil if there is none.
  var generation: Int? {
    withState { $0.pipeline.phase == .ready ? $0.pipeline.generation : nil }
  }

  /// Runs `body` with the state; only our own pure code.
  func withState<Result>(_ body: (inout NodeState) -> Result) -> Result {
    connection.withState { body(&$0.nodes[place]) }
  }
}

/// The state of the commands to one server, and of the connection to it.
struct NodeState: Sendable {
  /// The address of the server, or of those who know it.
  var address: RedisAddress
  var pipeline: RedisPipeline
  var link: (any RedisLink)?
  var counts = ConnectionCounts()

  /// The places of the server, once they have been looked up, or why there are none.
  var places: Result<ServerPlaces, RedisError>?

  /// Whether they are being looked up.
  var isLookingUp = false

  /// This connection and lost ones that the server may still have, by the server's numbers.
  var sessions: [RedisSession] = []

  /// The slots that are moving to another server; nil for none.
  var move: SlotMove?

  /// The commands that the server may carry out in a moment.
  var delayed: [DelayedReply] = []

  /// Whether no slot of the cluster is here any more.
  var isRetired = false

  /// Whether nothing is left to do for a client that is not used any more.
  var isDone: Bool { pipeline.isDone && move == nil && delayed.isEmpty }

  /// Ends everything; returns the receivers of all commands.
  mutating func close() -> [RedisAnswer] {
    link?.shutDown()
    link = nil
    let kept =
      (move?.redirected.map(\.reply) ?? []) + (move?.held ?? []) + delayed.map(\.reply)
    (move, delayed) = (nil, [])
    return pipeline.close() + kept.map(\.answer)
  }

  init(_ limits: ConnectionLimits, _ address: RedisAddress) {
    self.address = address
    pipeline = RedisPipeline(limits)
  }

  mutating func beginWriting(_ place: Int) -> NodeWriting? {
    guard let link, let output = pipeline.beginWriting() else { return nil }
    return NodeWriting(place: place, link: link, output: output)
  }

  mutating func endWriting(_ output: inout LinkOutput, _ sent: Int) {
    counts.bytesSent += sent
    pipeline.endWriting(&output)
  }
}

/// The work of the only writer to a server.
struct NodeWriting: Sendable {
  let place: Int
  let link: any RedisLink
  var output: LinkOutput
}
