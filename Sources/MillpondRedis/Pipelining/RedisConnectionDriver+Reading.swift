import MillpondSignals
import MillpondSockets

/// The reading of the bytes from the server.
extension RedisConnectionDriver {
  /// Acts on what a wait has shown.
  ///
  /// - Parameters:
  ///   - watch: What was seen.
  ///   - room: The room for bytes that are read.
  /// - Returns: Whether there is something to tend now, not only at the next look.
  mutating func act(on watch: SocketCalls.Watch, _ room: inout [UInt8]) -> Bool {
    guard let link else { return false }
    let (isReadable, isWritable) = link.readiness(after: watch)
    guard isReadable || isWritable else { return false }
    let now = SocketCalls.now()
    if let attempt, !attempt.isConnected {
      if isWritable { greet(at: now) }
      return true
    }
    // A link without a descriptor may have become full since the last look at the times.
    let hadNoRoom = isWritable && node.withState { $0.pipeline.unblock() }
    let wasUsual = attempt == nil && !isBlocked && !hadNoRoom
    if isReadable { read(link, &room, at: now) }
    return exchange(&isDue, with: false) || !wasUsual || self.link !== link
  }

  private mutating func read(_ link: any RedisLink, _ room: inout [UInt8], at now: Int64) {
    while self.link === link {
      let result = room.withUnsafeMutableBytes { buffer in
        let result = link.receive(into: buffer)
        if case .moved(let count) = result {
          parser.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
        return result
      }
      switch result {
      case .moved(0): return lose(link.failure ?? .connectionLost, at: now)
      case .moved(let count):
        receive(count, at: now)
        // Less than fits is all that there was.
        if count < room.count { return }
      case .wouldBlock: return
      case .failed(let code): return lose(.system(call: "recv", code: code), at: now)
      }
    }
  }

  /// Acts on all complete replies, of which the last bytes have arrived.
  private mutating func receive(_ bytes: Int, at now: Int64) {
    var replies: [RESPValue] = []
    var failure: RedisError?
    do throws(RESPError) {
      while let reply = try parser.next() { replies.append(reply) }
    } catch {
      failure = .malformedReply("\(error)")
    }
    deliver(replies, bytes, at: now)
    if let attempt { finishGreeting(attempt.answers.withLock { $0 }, at: now) }
    if link != nil, let failure { lose(failure, at: now) }
  }

  /// Begins to send commands when the greeting is answered.
  private mutating func finishGreeting(
    _ answers: [Result<RESPValue, RedisError>], at now: Int64
  ) {
    // Not all users may ask for the server's description.
    for (place, answer) in answers.enumerated() where place != 1 {
      if case .failure(.server(let message)) = answer {
        return lose(.refused(message: message), at: now)
      }
    }
    let greeting = answers.first.flatMap { try? $0.get() }
    if let service = settings.address.service, let role = greeting?["role"]?.text,
      role != "master"
    {
      return lose(.noPrimary(service: service, reason: "the sentinels name a \(role)"), at: now)
    }
    guard node.withState({ $0.pipeline.sent.isEmpty }) else { return }
    attempt = nil
    if settings.address.service != nil { nextInquiry = now + settings.limits.heartbeat }
    node.withState { state in
      state.counts.connections += 1
      state.counts.server = greeting?.server
    }
    tracker.began(on: node, sent.version)
    node.becomeReady(
      as: RedisSession(answers), reading: tracker.firstReads(on: node), at: now)
  }

  private mutating func deliver(_ replies: [RESPValue], _ bytes: Int, at now: Int64) {
    let count = replies.reduce(0) { $1.isPush ? $0 : $0 + 1 }
    let taken = node.withState { state in
      let taken = state.pipeline.takeAnswered(count, at: now)
      state.counts.bytesReceived += bytes
      state.counts.add(taken?.receivers ?? [], submittedBefore: settings.limits.deadline, at: now)
      return taken
    }
    guard let (late, receivers) = taken else {
      return lose(.malformedReply("an answer without a command"), at: now)
    }
    var (next, isDemoted) = (-late, false)
    for reply in replies {
      if case .push(let elements) = reply {
        tracker.received(elements, on: node)
        continue
      }
      defer { next += 1 }
      if next < 0 { continue }
      let receiver = receivers[next]
      if case .error(let message) = reply, redirect(receiver, message, at: now) { continue }
      failOvertaken(by: receiver)
      if case .itself = receiver.takeBack {
        let entry = TakeBackQueue.Entry(receiver.request, receiver.slot)
        node.withState { state in
          state.pipeline.takingBack.answered(entry, reply, at: now, settings.limits)
        }
        isDue = true
      }
      if case .error(let message) = reply {
        if !receiver.isOwn {
          node.withState { $0.counts.refusals += 1 }
          isDemoted = isDemoted || message.contains("READONLY ")
        }
        receiver.answer(.failure(.server(message: message)))
      } else {
        receiver.answer(.success(reply))
      }
    }
    node.uncork()
    if isDemoted { leaveDemoted(at: now) }
  }

  /// Leaves a server that is no primary any more, and looks its address up again.
  ///
  /// If that leads to the same server, or another replica, the client stays there for a while, and
  /// writes fail.
  private mutating func leaveDemoted(at now: Int64) {
    let age = now - node.withState { $0.pipeline.readySince }
    if link != nil, !settings.address.isCluster,
      settings.address.service != nil || age >= settings.limits.lasting
    {
      lose(.server(message: "READONLY The server is a replica."), at: now)
    }
  }
}

extension RESPValue {
  fileprivate var isPush: Bool {
    if case .push = self { true } else { false }
  }
}
