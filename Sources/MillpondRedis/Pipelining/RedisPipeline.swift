import MillpondCore
import MillpondSignals

/// The receiver of the answer to a command.
typealias RedisAnswer = @Sendable (Result<RESPValue, RedisError>) -> Void

/// A command whose answer has not arrived.
struct PendingReply: Sendable {
  let request: RedisRequest

  /// The time by which it has to be answered.
  let deadline: Int64
  let answer: RedisAnswer

  /// Whether it was sent on an earlier connection.
  var isRepeated = false
}

/// The commands of one connection, and what becomes of them: the deciding part, without threads,
/// sockets and time of its own.
///
/// Commands are sent and answered in the order of their submission. When a connection is lost,
/// the commands that only read and were sent once are sent again on the next one, before all later
/// ones; the others that were sent fail, since they may have been carried out. Commands that were
/// never sent wait for the next connection, unless it fails. While a pause between attempts lasts,
/// commands fail at once.
struct RedisPipeline: Sendable {
  /// The state of the connection.
  enum Phase: Sendable, Equatable {
    /// No command has been submitted yet.
    case idle

    /// The connection is being made.
    case connecting

    /// The connection is made, and so many answers to the greeting are missing.
    case greeting(Int)

    /// Commands are sent.
    case ready

    /// The last attempt failed; the next one is made at this time.
    case pausing(until: Int64)

    case closed
  }

  /// The next step of the submitter of a command.
  enum Step: Sendable, Equatable {
    /// Nothing: another thread sends it.
    case nothing

    /// Send the output.
    case send

    /// Send the output, and wake the thread of the connections, which does not look at deadlines at
    /// present.
    case sendAndWake

    /// Wake the thread of the connections.
    case wake

    /// Fail the command, which was not taken.
    case refuse(RedisError)
  }

  let limits: PipelineLimits
  var phase = Phase.idle

  /// The commands that wait for a connection.
  var waiting = Queue<PendingReply>()

  /// The commands whose answers are missing, in order, and how many of the first have failed because
  /// their deadline was over.
  var sent = Queue<PendingReply>()
  var late = 0

  /// The bytes that have not been handed to a writer.
  var output: [UInt8] = []
  var isWriting = false

  /// The number of the connection; what a writer of an earlier one reports changes nothing.
  var generation = 0
  var isBlocked = false
  var isCorked = false
  private var isWakePending = false

  /// Whether commands were submitted since the last look at the times, and whether the next look
  /// is later than a command's deadline would be.
  private var isActive = false
  private var isDozing = false

  /// The times of the last bytes from the server, and of the greeting's end.
  var lastReceived: Int64 = 0
  var readySince: Int64 = 0

  /// The failed attempts in a row.
  var failures = 0

  init(_ limits: PipelineLimits) {
    self.limits = limits
  }

  /// The number of commands without an answer.
  var count: Int { waiting.count + sent.count - late }
}

// MARK: - Commands

extension RedisPipeline {
  /// Takes a command, unless it can't be sent soon.
  mutating func submit(_ reply: PendingReply, at now: Int64) -> Step {
    if count >= limits.commands || output.count >= limits.outputBytes {
      return .refuse(.tooManyCommands(limit: limits.commands))
    }
    switch phase {
    case .closed: return .refuse(.closed)
    case .pausing(let until):
      return .refuse(.notConnected(remaining: .nanoseconds(max(0, until - now))))
    case .idle, .connecting, .greeting:
      waiting.append(reply)
      return phase == .idle ? wake() : .nothing
    case .ready:
      let isFirst = sent.isEmpty
      isActive = true
      put(reply)
      if isCorked || isWriting || isBlocked { return .nothing }
      // A lonely command is sent at once, which saves the detour through another thread. Those
      // that follow it closely are sent together.
      if !isFirst { return wake() }
      return exchange(&isDozing, with: false) ? .sendAndWake : .send
    }
  }

  mutating func put(_ reply: PendingReply) {
    reply.request.append(to: &output)
    sent.append(reply)
  }

  private mutating func wake() -> Step {
    exchange(&isWakePending, with: true) ? .nothing : .wake
  }

  /// Takes back the receivers of the next `count` answers; nil for one whose deadline was over.
  ///
  /// From here on until ``uncork()`` the output is only collected: what receivers submit is sent
  /// together.
  ///
  /// - Returns: Nil if more answers have arrived than commands were sent.
  mutating func takeAnswered(_ count: Int, at now: Int64) -> [RedisAnswer?]? {
    lastReceived = now
    isCorked = true
    guard count <= sent.count else { return nil }
    var answers: [RedisAnswer?] = []
    answers.reserveCapacity(count)
    for _ in 0..<count {
      let reply = sent.popFirst()
      answers.append(late > 0 ? nil : reply?.answer)
      late = max(0, late - 1)
    }
    return answers
  }

  mutating func uncork() {
    isCorked = false
  }
}

// MARK: - Sending

extension RedisPipeline {
  /// Takes the output for the only writer; nil if there is another writer, or nothing to write.
  mutating func beginWriting() -> (bytes: [UInt8], generation: Int)? {
    isWakePending = false
    if isWriting || isBlocked || isCorked || output.isEmpty { return nil }
    switch phase {
    case .greeting, .ready: break
    case .idle, .connecting, .pausing, .closed: return nil
    }
    isWriting = true
    return (exchange(&output, with: []), generation)
  }

  /// Ends a write, and keeps what the socket did not take.
  ///
  /// - Parameters:
  ///   - rest: The bytes that the socket did not take.
  ///   - isBlocked: Whether the socket has no room at present.
  ///   - generation: The number of the connection.
  mutating func endWriting(rest: ArraySlice<UInt8>, isBlocked: Bool, generation: Int) {
    guard generation == self.generation else { return }
    isWriting = false
    self.isBlocked = isBlocked
    if !rest.isEmpty { output = rest + output }
  }

  /// Notes that the socket has room again.
  mutating func unblock() {
    isBlocked = false
  }
}

// MARK: - Deadlines

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
    while let next = sent.element(at: late), next.deadline <= now {
      late += 1
      overdue.answers.append(next.answer)
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
    return [time, waiting.first?.deadline, sent.element(at: late)?.deadline]
      .compactMap { $0 }.min()
  }

  /// Whether the server should be asked for a sign of life.
  func needsHeartbeat(at now: Int64) -> Bool {
    phase == .ready && sent.isEmpty && now - lastReceived >= limits.heartbeat
  }
}
