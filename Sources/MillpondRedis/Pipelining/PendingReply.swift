import MillpondSignals

/// The receiver of the answer to a command.
typealias RedisAnswer = @Sendable (Result<RESPValue, RedisError>) -> Void

/// A command whose answer has not arrived.
struct PendingReply: Sendable {
  let request: RedisRequest

  /// The time by which it has to be answered.
  var deadline: Int64
  let answer: RedisAnswer
  var takeBack = TakeBack.nothing

  /// Whether the limits do not hold for it, because the client itself needs it.
  var isOwn = false

  /// Whether it was sent on an earlier connection.
  var isRepeated = false

  /// The slot of its key, if the server is a cluster.
  var slot: Int?

  /// The number of times that a server of a cluster has sent it to another one.
  var redirections = 0

  /// Whether it was sent to a server that its slot was only moving to.
  var isAsked = false

  /// Returns a command that takes something back.
  static func takingBack(
    _ request: RedisRequest, deadline: Int64, slot: Int? = nil
  ) -> PendingReply {
    PendingReply(
      request: request, deadline: deadline, answer: { _ in }, takeBack: .itself, isOwn: true,
      slot: slot)
  }

  /// The command that is to be sent if the answer does not arrive in time.
  var takingBack: RedisRequest? {
    switch takeBack {
    case .nothing: nil
    case .by(let request): request
    case .itself: request
    }
  }
}

/// The cure for a command that was sent, and whose answer does not arrive in time: it may have been
/// carried out.
enum TakeBack: Sendable {
  /// None: the command leaves nothing that matters.
  case nothing

  /// Another command, which removes what this one may have left.
  case by(RedisRequest)

  /// The same command, which removes what an earlier one has left: it is sent until it is answered.
  case itself
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

  /// Takes out those that satisfy a condition, in order.
  mutating func take(_ isTaken: (PendingReply) -> Bool) -> [PendingReply] {
    var (rest, taken) = (WaitingCommands(), [PendingReply]())
    while let reply = popFirst() {
      if isTaken(reply) { taken.append(reply) } else { rest.append(reply) }
    }
    self = rest
    return taken
  }
}
