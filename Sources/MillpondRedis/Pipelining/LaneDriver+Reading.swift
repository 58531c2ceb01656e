import MillpondSignals

/// The reading of the bytes from the server.
extension LaneDriver {
  /// Acts on what a wait has shown.
  mutating func act(on watch: SystemCalls.Watch) {
    guard let socket, socket.descriptor == watch.descriptor else { return }
    let now = SystemCalls.now()
    if let attempt, !attempt.isConnected {
      if watch.isWritable { greet(at: now) }
      return
    }
    if watch.isWritable, isBlocked { lane.withState { $0.pipeline.unblock() } }
    if watch.isReadable { read(socket, at: now) }
  }

  private mutating func read(_ socket: RedisSocket, at now: Int64) {
    let size = 64 << 10
    while self.socket === socket {
      let result = withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { buffer in
        let result = SystemCalls.receive(socket.descriptor, into: buffer)
        if case .moved(let count) = result {
          parser.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
        return result
      }
      switch result {
      case .moved(0): return lose(.connectionLost, at: now)
      case .moved(let count):
        receive(at: now)
        // Less than fits is all that there was.
        if count < size { return }
      case .wouldBlock: return
      case .failed(let code): return lose(.system(call: "recv", code: code), at: now)
      }
    }
  }

  /// Acts on all complete replies.
  private mutating func receive(at now: Int64) {
    var replies: [RESPValue] = []
    var failure: RedisError?
    do throws(RESPError) {
      while let reply = try parser.next() { replies.append(reply) }
    } catch {
      failure = .malformedReply("\(error)")
    }
    if attempt != nil { greeted(&replies, at: now) }
    if socket == nil { return }
    deliver(replies, at: now)
    if let failure { lose(failure, at: now) }
  }

  private mutating func greeted(_ replies: inout [RESPValue], at now: Int64) {
    while let reply = replies.first {
      replies.removeFirst()
      if case .push = reply { continue }
      if case .error(let message) = reply { return lose(.refused(message: message), at: now) }
      guard lane.withState({ $0.pipeline.greeted(1) }) else { continue }
      attempt = nil
      tracker.began(on: lane, trackedVersion)
      lane.withState { $0.pipeline.becomeReady(at: now) }
      lane.flush()
      return
    }
    lane.withState { $0.pipeline.lastReceived = now }
  }

  private mutating func deliver(_ replies: [RESPValue], at now: Int64) {
    let count = replies.reduce(0) { $1.isPush ? $0 : $0 + 1 }
    let answers = lane.withState { $0.pipeline.takeAnswered(count, at: now) }
    guard let answers else { return lose(.malformedReply("an answer without a command"), at: now) }
    var next = 0
    for reply in replies {
      if case .push(let elements) = reply {
        tracker.received(elements, on: lane)
        continue
      }
      let answer = answers[next]
      next += 1
      if case .error(let message) = reply {
        answer?(.failure(.server(message: message)))
      } else {
        answer?(.success(reply))
      }
    }
    lane.withState { $0.pipeline.uncork() }
    lane.flush()
  }
}

extension RESPValue {
  fileprivate var isPush: Bool {
    if case .push = self { true } else { false }
  }
}
