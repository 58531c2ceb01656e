/// The counters of one connection: commands, bytes, and how often it was made.
struct ConnectionCounts: Sendable {
  /// The address of the server, and its name and version.
  var address: RedisAddress?
  var server: String?

  /// The number of times that it was made.
  var connections = 0
  var answers = 0
  var refusals = 0
  var bytesSent = 0
  var bytesReceived = 0

  /// The time from the submission of commands to their answers, in nanoseconds.
  var waitingTime: Int64 = 0

  /// Adds commands that have been answered, without those of the client itself.
  mutating func add(
    _ answered: [PendingReply], submittedBefore deadline: Int64, at now: Int64
  ) {
    for reply in answered where !reply.isOwn {
      answers += 1
      waitingTime += now - (reply.deadline - deadline)
    }
  }
}

extension RedisStatistics {
  /// Adds a connection, unless a cluster does not use it any more.
  mutating func add(_ node: NodeState) {
    let (pipeline, counts) = (node.pipeline, node.counts)
    let failure = pipeline.phase != .ready && pipeline.failures > 0 ? pipeline.failure : nil
    if !node.isRetired {
      connections.append(
        Connection(
          state: State(pipeline.phase), address: counts.address, server: counts.server,
          failure: failure))
    }
    reconnects += max(0, counts.connections - 1)
    answers += counts.answers
    refusals += counts.refusals
    waitingTime += .nanoseconds(counts.waitingTime)
    bytesSent += counts.bytesSent
    bytesReceived += counts.bytesReceived
  }
}

extension RedisStatistics.State {
  init(_ phase: RedisPipeline.Phase) {
    self =
      switch phase {
      case .idle: .idle
      case .connecting, .greeting: .connecting
      case .ready: .ready
      case .pausing: .pausing
      case .closed: .closed
      }
  }
}
