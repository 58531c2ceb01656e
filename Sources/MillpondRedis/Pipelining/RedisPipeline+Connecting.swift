import MillpondSignals

/// The beginning and the end of connections.
extension RedisPipeline {
  /// Whether a connection should be made now.
  func isDue(at now: Int64) -> Bool {
    switch phase {
    case .idle: count > 0
    case .pausing(let until): until <= now
    case .connecting, .greeting, .ready, .closed: false
    }
  }

  /// Begins to connect, without a command for it.
  mutating func beginConnecting() {
    phase = .connecting
  }

  /// Sends the greeting on a new connection, before all commands.
  mutating func greet(_ greeting: [PendingReply], at now: Int64) {
    startAnew()
    for reply in greeting { put(reply) }
    lastReceived = now
    phase = .greeting
  }

  /// Sends the commands that have waited.
  ///
  /// - Parameters:
  ///   - now: The time.
  ///   - first: The commands to send before all others, whose deadlines do not count.
  mutating func becomeReady(at now: Int64, first: [PendingReply] = []) {
    phase = .ready
    readySince = now
    // Deadlines are looked at in order, so none is later than those that follow.
    let deadline = min(waiting.first?.deadline ?? .max, now + limits.deadline)
    for var reply in first {
      reply.deadline = deadline
      put(reply)
    }
    sendTakingBack(at: now, deadline: deadline)
    while let reply = waiting.popFirst() { put(reply) }
  }

  /// Ends a connection or an attempt, and decides about every command.
  ///
  /// - Returns: The receivers of those that fail.
  mutating func lose(_ error: RedisError, at now: Int64, share: Double) -> [RedisAnswer] {
    if phase == .closed { return [] }
    failure = error
    let wasReady = phase == .ready
    // A connection that did not last counts as a failed attempt.
    if wasReady, now - readySince >= limits.lasting { failures = 0 }
    var failed: [RedisAnswer] = []
    var repeated = WaitingCommands()
    while let reply = sent.popFirst() {
      if let request = reply.takingBack {
        takingBack.add(TakeBackQueue.Entry(request, reply.slot), limit: limits.commands)
      }
      if reply.request.isRepeatable, !reply.isRepeated {
        repeated.append(reply.repeated)
      } else {
        failed.append(reply.answer)
      }
    }
    while let reply = waiting.popFirst() { repeated.append(reply) }
    waiting = repeated
    takingBack.startAnew()
    startAnew()
    if wasReady, failures == 0 {
      // The first attempt is made at once: most likely the server has been restarted.
      failures = 1
      phase = .connecting
    } else {
      failures += 1
      phase = .pausing(until: now + limits.pause(after: failures - 1, share: share))
      failed += takeWaiting()
    }
    return failed
  }

  /// Ends everything; returns the receivers of all commands.
  mutating func close() -> [RedisAnswer] {
    phase = .closed
    var failed: [RedisAnswer] = []
    while let reply = sent.popFirst() {
      failed.append(reply.answer)
    }
    takingBack = TakeBackQueue()
    startAnew()
    return failed + takeWaiting()
  }

  /// Begins anew, with the next command.
  mutating func leave() {
    phase = .idle
    failures = 0
    takingBack = TakeBackQueue()
    startAnew()
  }

  private mutating func takeWaiting() -> [RedisAnswer] {
    var answers: [RedisAnswer] = []
    while let reply = waiting.popFirst() { answers.append(reply.answer) }
    return answers
  }

  private mutating func startAnew() {
    output = []
    unfinished = nil
    late = 0
    generation += 1
    (isWriting, isBlocked, isCorked) = (false, false, false)
  }
}

extension PendingReply {
  fileprivate var repeated: PendingReply {
    var copy = self
    copy.isRepeated = true
    return copy
  }
}
