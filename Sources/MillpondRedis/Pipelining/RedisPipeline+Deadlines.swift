import MillpondSignals

/// The times by which commands are answered, and signs of life.
extension RedisPipeline {
  /// The result of a look at the deadlines.
  struct Overdue: Sendable {
    var answers: [RedisAnswer] = []

    /// Whether the server was silent for the whole time, so that the connection counts as lost.
    var isSilent = false
  }

  /// Fails the commands whose deadline is over.
  mutating func takeOverdue(at now: Int64) -> Overdue {
    var overdue = Overdue()
    while let next = waiting.first, next.deadline <= now, let reply = waiting.popFirst() {
      overdue.answers.append(reply.answer)
    }
    while let next = sent.first, next.deadline <= now, let reply = sent.popFirst() {
      late += 1
      overdue.answers.append(reply.answer)
      // The server carries it out after the command that is late, if it does that at all.
      if let request = reply.takingBack {
        put(.takingBack(request, deadline: now + limits.deadline, slot: reply.slot))
      }
      // The deadline counts from the submission of the command.
      if lastReceived <= next.deadline - limits.deadline { overdue.isSilent = true }
    }
    return overdue
  }

  /// Returns the time of the next look at the times, before which only a command can need one.
  mutating func nextLook(at now: Int64) -> Int64? {
    let time: Int64?
    switch phase {
    case .pausing(let until): time = until
    case .ready where sent.isEmpty:
      let heartbeat = lastReceived + limits.heartbeat
      // Commands that follow each other need not wake the thread each time.
      isDozing = !exchange(&isActive, with: false)
      time = isDozing ? heartbeat : min(heartbeat, now + limits.deadline)
    case .idle, .connecting, .greeting, .ready, .closed: time = nil
    }
    let takingBack = phase == .ready ? takingBack.nextTime : nil
    return [time, waiting.first?.deadline, sent.first?.deadline, takingBack].compactMap { $0 }.min()
  }

  /// Whether the server should be asked for a sign of life.
  func needsHeartbeat(at now: Int64) -> Bool {
    phase == .ready && sent.isEmpty && now - lastReceived >= limits.heartbeat
  }
}
