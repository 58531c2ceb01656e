import MillpondSignals

/// The receiver of the answer to a command.
typealias RedisAnswer = @Sendable (Result<RESPValue, RedisError>) -> Void

/// A command whose answer has not arrived.
struct PendingReply: Sendable {
  let request: RedisRequest

  /// The time by which it has to be answered.
  var deadline: Int64
  let answer: RedisAnswer

  /// The command that takes back what this one has left, should it have been sent and its answer
  /// not arrive in time.
  var takeBack: RedisRequest?

  /// Whether it takes back what another one has left.
  var isTakingBack = false

  /// Whether the limits do not hold for it, because the client itself needs it.
  var isOwn = false

  /// Whether it was sent on an earlier connection.
  var isRepeated = false

  /// Returns a command that takes something back, and is repeated until it is answered.
  static func takingBack(_ request: RedisRequest, deadline: Int64) -> PendingReply {
    PendingReply(
      request: request, deadline: deadline, answer: { _ in }, takeBack: request, isTakingBack: true)
  }
}

/// A command that has failed, because its deadline was over, and whose answer has not arrived.
struct LateReply: Sendable {
  let takeBack: RedisRequest?
  let isTakingBack: Bool

  /// The command itself, if it takes something back.
  var takenBack: RedisRequest? { isTakingBack ? takeBack : nil }
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
