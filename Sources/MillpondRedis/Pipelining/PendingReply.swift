import MillpondSignals

/// The receiver of the answer to a command.
typealias RedisAnswer = @Sendable (Result<RESPValue, RedisError>) -> Void

/// A command whose answer has not arrived.
struct PendingReply: Sendable {
  let request: RedisRequest

  /// The time by which it has to be answered.
  var deadline: Int64
  let answer: RedisAnswer

  /// Whether it takes back what an earlier command may have left: it is sent whatever the limits
  /// are, and on the next connection before all others.
  var isTakingBack = false

  /// Whether it was sent on an earlier connection.
  var isRepeated = false
}

/// Commands that have not been sent, in order.
struct WaitingCommands: Sendable {
  private var replies = Queue<PendingReply>()

  /// The bytes of the commands.
  private(set) var bytes = 0

  var count: Int { replies.count }

  var first: PendingReply? { replies.first }

  mutating func append(_ reply: PendingReply) {
    bytes += reply.request.count
    replies.append(reply)
  }

  mutating func popFirst() -> PendingReply? {
    guard let reply = replies.popFirst() else { return nil }
    bytes -= reply.request.count
    return reply
  }
}
