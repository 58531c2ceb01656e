import MillpondCore
import MillpondSignals

/// The commands of one connection, and what becomes of them: the deciding part, without threads,
/// links and time of its own.
///
/// Commands are sent and answered in the order of their submission. When a connection is lost,
/// the commands that only read and were sent once are sent again on the next one, before all later
/// ones; the others that were sent fail, since they may have been carried out. Commands that were
/// never sent wait for the next connection, unless it fails. While a pause between attempts lasts,
/// commands fail at once; those that take something back wait for as long as it takes.
struct RedisPipeline: Sendable {
  /// The state of the connection.
  enum Phase: Sendable, Equatable {
    /// No command has been submitted yet.
    case idle

    /// The connection is being made.
    case connecting

    /// The connection is made, and answers to the greeting are missing.
    case greeting

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

  let limits: ConnectionLimits
  var phase = Phase.idle

  /// The commands that wait for a connection.
  var waiting = WaitingCommands()

  /// The commands that go before them, to take back what others have left.
  var takingBack = TakeBackQueue()

  /// The number of the next answers whose commands have failed, because their deadline was over.
  var late = 0

  /// The commands whose answers come after those, in order.
  var sent = Queue<PendingReply>()

  /// Output that the link has taken in part; the rest is sent first.
  var unfinished: LinkOutput?

  /// The bytes that have not been handed to a writer, and the room of those that were sent.
  var output: [UInt8] = []
  private var spare: [UInt8] = []
  var isWriting = false

  /// The number of the connection; what a writer of an earlier one reports changes nothing.
  var generation = 0
  var isBlocked = false
  var isCorked = false
  private var isWakePending = false

  /// Whether commands were submitted since the last look at the times, and whether the next look
  /// is later than a command's deadline would be.
  var isActive = false
  var isDozing = false

  /// The times of the last bytes from the server, and of the greeting's end.
  var lastReceived: Int64 = 0
  var readySince: Int64 = 0

  /// The failed attempts in a row, and the last failure.
  var failures = 0
  var failure = RedisError.connectionLost

  init(_ limits: ConnectionLimits) {
    self.limits = limits
  }

  /// The number of commands without an answer.
  var count: Int { waiting.count + sent.count }

  /// Whether nothing is left to do for a client that is not used any more: what is to be taken back
  /// is attempted once more, on this connection or the next one.
  var isDone: Bool {
    if case .pausing = phase { return true }
    return count == 0 && takingBack.isDone
  }
}

// MARK: - Commands

extension RedisPipeline {
  /// Takes a command, unless it can't be sent soon.
  mutating func submit(_ reply: PendingReply, at now: Int64) -> Step {
    if case .itself = reply.takeBack, phase != .ready, phase != .closed {
      takingBack.add(TakeBackQueue.Entry(reply.request, reply.slot), limit: limits.commands)
      return .nothing
    }
    if !reply.isOwn {
      if count >= limits.commands {
        return .refuse(.tooManyCommands(limit: limits.commands))
      }
      if output.count + waiting.bytes + (unfinished?.rest ?? 0) >= limits.outputBytes {
        return .refuse(.tooManyBytes(limit: limits.outputBytes))
      }
    }
    switch phase {
    case .closed: return .refuse(.closed)
    case .pausing(let until):
      let remaining = Duration.nanoseconds(max(0, until - now))
      return .refuse(.notConnected(remaining: remaining, cause: failure))
    case .idle, .connecting, .greeting:
      waiting.append(reply)
      return phase == .idle ? wake() : .nothing
    case .ready:
      let isFirst = sent.isEmpty
      isActive = true
      put(reply)
      // A dozing thread has to look at the deadline, whoever sends the command.
      if isCorked || isWriting || isBlocked {
        return exchange(&isDozing, with: false) ? wake() : .nothing
      }
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

  /// Sends the commands that take something back, unless it is too early.
  mutating func sendTakingBack(at now: Int64, deadline: Int64? = nil) {
    guard phase == .ready else { return }
    for entry in takingBack.takeDue(at: now) {
      put(
        .takingBack(entry.request, deadline: deadline ?? now + limits.deadline, slot: entry.slot))
    }
  }

  private mutating func wake() -> Step {
    exchange(&isWakePending, with: true) ? .nothing : .wake
  }

  /// Takes back the receivers of the next `count` answers.
  ///
  /// From here on until ``uncork()`` the output is only collected: what receivers submit is sent
  /// together.
  ///
  /// - Returns: The number of answers before those, which come too late, and the receivers; nil if
  ///   more answers have arrived than commands were sent.
  mutating func takeAnswered(
    _ count: Int, at now: Int64
  ) -> (late: Int, receivers: [PendingReply])? {
    lastReceived = now
    isCorked = true
    guard count <= late + sent.count else { return nil }
    let dropped = min(late, count)
    late -= dropped
    var receivers: [PendingReply] = []
    receivers.reserveCapacity(count - dropped)
    for _ in dropped..<count {
      if let reply = sent.popFirst() { receivers.append(reply) }
    }
    return (dropped, receivers)
  }

  mutating func uncork() {
    isCorked = false
  }
}

// MARK: - Sending

extension RedisPipeline {
  /// Takes the output for the only writer; nil if there is another writer, or nothing to write.
  mutating func beginWriting() -> LinkOutput? {
    isWakePending = false
    if isWriting || isBlocked || isCorked { return nil }
    switch phase {
    case .greeting, .ready: break
    case .idle, .connecting, .pausing, .closed: return nil
    }
    if let unfinished = exchange(&unfinished, with: nil) {
      isWriting = true
      return unfinished
    }
    if output.isEmpty { return nil }
    isWriting = true
    let bytes = exchange(&output, with: exchange(&spare, with: []))
    return LinkOutput(bytes: bytes, generation: generation)
  }

  /// Ends a write, and keeps what the link did not take.
  mutating func endWriting(_ written: inout LinkOutput) {
    guard written.generation == generation else { return }
    isWriting = false
    isBlocked = written.isBlocked
    if written.sent < written.bytes.count {
      written.isBlocked = false
      unfinished = written
    } else if written.bytes.count <= Self.spareRoom {
      swap(&spare, &written.bytes)
      spare.removeAll(keepingCapacity: true)
    }
  }

  /// The most room that is kept for later output.
  private static let spareRoom = 1 << 16

  /// Notes that the link has room; returns whether it had none before.
  @discardableResult
  mutating func unblock() -> Bool { exchange(&isBlocked, with: false) }
}
