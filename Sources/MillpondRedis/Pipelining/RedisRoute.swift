import MillpondCore
import MillpondSignals

/// The way to the server of a key: its connection and, in a cluster, its slot.
struct RedisRoute: Sendable {
  let connection: RedisConnection

  /// The slot; nil unless the server is a cluster.
  let slot: Int?

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
    connection.submit { deadline, orders in
      guard let request = make(&orders) else { return nil }
      return PendingReply(
        request: request, deadline: deadline, answer: answer,
        takeBack: takeBack.map { .by($0) } ?? .nothing, slot: slot)
    }
  }

  /// Sends a command that takes back what an earlier one has left, at once or first of all on the
  /// next connection, until the server has answered it.
  func takeBack(_ request: RedisRequest) {
    _ = connection.submit { deadline, _ in
      .takingBack(request, deadline: deadline, slot: slot)
    }
  }
}
