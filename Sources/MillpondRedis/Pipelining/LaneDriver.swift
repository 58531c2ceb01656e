import Dispatch
import MillpondSignals

/// What only the thread of the connections has of one of them: the bytes from the server, and the
/// attempt to connect.
struct LaneDriver {
  let lane: RedisLane
  private let settings: RedisSettings
  private let tracker: RedisTracker
  private let wake: WakeSignal
  private var socket: RedisSocket?
  private var parser: RESPParser
  private var attempt: Attempt?

  /// The version of the tracked prefixes that the server was told.
  private var trackedVersion = 0
  private var isBlocked = false

  /// An attempt to connect, up to the end of the greeting.
  private struct Attempt {
    let deadline: Int64
    var isLookingUp = false
    var addresses: [SocketAddress] = []
    var isConnected = false
  }

  init(
    _ lane: RedisLane, _ settings: RedisSettings, _ tracker: RedisTracker, _ wake: WakeSignal
  ) {
    self.lane = lane
    self.settings = settings
    self.tracker = tracker
    self.wake = wake
    parser = RESPParser(settings.replyLimits)
  }

  /// The descriptor to wait for, and what for.
  var watch: SystemCalls.Watch {
    let isConnecting = attempt.map { !$0.isConnected } ?? false
    return SystemCalls.Watch(
      descriptor: socket?.descriptor ?? -1, isWriting: isConnecting || isBlocked)
  }

  // MARK: Times

  /// Does what is due; returns the time of the next such thing.
  mutating func tend(at now: Int64) -> Int64? {
    failOverdue(at: now)
    if let attempt, attempt.deadline <= now { lose(.timedOut, at: now) }
    if lane.withState({ $0.isTrackingRefused }) {
      lose(.refused(message: "CLIENT TRACKING"), at: now)
    }
    connectIfDue(at: now)
    if attempt?.isLookingUp == true, let found = takeAddresses() {
      attempt?.isLookingUp = false
      attempt?.addresses = found
      connectToNext(at: now, RedisError.unknownHost(settings.address.host))
    }
    trackIfChanged()
    if lane.withState({ $0.pipeline.needsHeartbeat(at: now) }) {
      lane.submit(.command("PING")) { _ in }
    }
    lane.flush()
    isBlocked = lane.withState { $0.pipeline.isBlocked }
    let next = lane.withState { $0.pipeline.nextLook(at: now) }
    return [next, attempt?.deadline].compactMap { $0 }.min()
  }

  private mutating func failOverdue(at now: Int64) {
    let overdue = lane.withState { $0.pipeline.takeOverdue(at: now) }
    // Before the commands fail: their callers may ask memory next.
    if overdue.isSilent { lose(.timedOut, at: now) }
    for answer in overdue.answers { answer(.failure(.timedOut)) }
  }

  // MARK: Connecting

  private mutating func connectIfDue(at now: Int64) {
    let isFollowed = tracker.isFollowed
    let phase = lane.withState { state -> RedisPipeline.Phase in
      if state.pipeline.isDue(at: now) || isFollowed && state.pipeline.phase == .idle {
        state.pipeline.beginConnecting()
      }
      return state.pipeline.phase
    }
    guard phase == .connecting, attempt == nil else { return }
    attempt = Attempt(deadline: now + settings.limits.deadline)
    lookUp(at: now)
  }

  private mutating func lookUp(at now: Int64) {
    do throws(RedisError) {
      switch settings.address {
      case .unix(let path): attempt?.addresses = [try .unix(path: path)]
      case .tcp(let host, let port):
        attempt?.addresses = SocketAddress.addresses(of: host, port: port, isNumeric: true)
        if attempt?.addresses.isEmpty == true { return lookUp(host, port) }
      }
      connectToNext(at: now, .connectionLost)
    } catch {
      lose(error, at: now)
    }
  }

  /// Looks up a name on another thread, since the system's call blocks.
  private mutating func lookUp(_ host: String, _ port: UInt16) {
    attempt?.isLookingUp = true
    lane.withState { $0.addresses = nil }
    DispatchQueue.global().async { [lane, wake] in
      let addresses = SocketAddress.addresses(of: host, port: port, isNumeric: false)
      lane.withState { $0.addresses = addresses }
      wake.send()
    }
  }

  private func takeAddresses() -> [SocketAddress]? {
    lane.withState { exchange(&$0.addresses, with: nil) }
  }

  /// Tries the next address; without one, the attempt has failed with `error`.
  private mutating func connectToNext(at now: Int64, _ error: RedisError) {
    var error = error
    while let address = attempt?.addresses.first {
      attempt?.addresses.removeFirst()
      do throws(RedisError) {
        socket = try RedisSocket(connectingTo: address)
        return
      } catch let failure {
        error = failure
      }
    }
    lose(error, at: now)
  }

  private mutating func greet(at now: Int64) {
    guard let socket else { return }
    if let failure = SystemCalls.connectFailure(socket.descriptor) {
      self.socket = nil
      return connectToNext(at: now, failure)
    }
    attempt?.isConnected = true
    parser = RESPParser(settings.replyLimits)
    let (tracking, version) = tracker.requests()
    trackedVersion = version
    let requests = settings.greeting + tracking
    lane.withState { state in
      state.socket = socket
      state.pipeline.greet(requests, at: now)
    }
    lane.flush()
  }

  // MARK: Reading

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

  // MARK: Tracking and the end

  /// Tells the server about prefixes that have been added.
  private mutating func trackIfChanged() {
    guard attempt == nil, socket != nil, tracker.version != trackedVersion else { return }
    // Until the server has answered, nothing is known about changes.
    tracker.ended(on: lane.number)
    let (requests, version) = tracker.requests()
    trackedVersion = version
    if trackedVersion != 0 { lane.submit(.command("CLIENT", "TRACKING", "OFF")) { _ in } }
    for request in requests {
      lane.submit(request) { [lane, tracker] result in
        switch result {
        case .success: tracker.began(on: lane, version)
        case .failure(.server): lane.withState { $0.isTrackingRefused = true }
        case .failure: break  // the connection is lost, and the next one tracks
        }
      }
    }
  }

  private mutating func lose(_ error: RedisError, at now: Int64) {
    // First of all: from here on no get is answered from memory that the server has not confirmed.
    tracker.ended(on: lane.number)
    socket?.shutDown()
    socket = nil
    attempt = nil
    parser = RESPParser(settings.replyLimits)
    let share = settings.chance()
    let failed = lane.withState { state in
      state.socket = nil
      state.isTrackingRefused = false
      return state.pipeline.lose(at: now, share: share)
    }
    for answer in failed { answer(.failure(error)) }
  }
}

extension RESPValue {
  fileprivate var isPush: Bool {
    if case .push = self { true } else { false }
  }
}
