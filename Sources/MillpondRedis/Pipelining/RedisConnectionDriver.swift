import MillpondSignals
import MillpondSockets

/// The part of a connection that only the thread of all connections touches: the bytes from the
/// server, and the attempt to connect.
struct RedisConnectionDriver {
  let node: RedisNode
  let settings: RedisSettings
  let tracker: RedisTracker
  let wake: WakePipe
  var link: (any RedisLink)?
  var parser: RESPParser
  var attempt: Attempt?

  /// The prefixes of which the server has been told.
  var sent = SentPrefixes()
  var isBlocked = false

  /// Whether an answer asks for a look at the times now.
  var isDue = false

  /// The server that was found last, and the time at which the sentinels, or the servers of the
  /// cluster, are asked again.
  var server: RedisAddress?
  var nextInquiry: Int64?

  /// The number of places that were connected to, but did not answer the greeting: the next attempt
  /// begins with another one.
  var passedPlaces = 0

  /// An attempt to connect, up to the end of the greeting.
  struct Attempt {
    let deadline: Int64

    /// The time by which the present place has to be connected to.
    var placeDeadline = Int64.max
    var isLookingUp = false

    /// Whether the cluster is asked for its slots first.
    var isAskingForSlots = false
    var places: [RedisPlace] = []
    var isConnected = false

    /// The answers to the greeting so far.
    let answers = Locked<[Result<RESPValue, RedisError>]>([])

    /// Returns the next place, for its share of the time that is left; nil if there is none.
    mutating func takePlace(at now: Int64) -> RedisPlace? {
      guard let place = places.first else { return nil }
      placeDeadline = now + (deadline - now) / Int64(places.count)
      places.removeFirst()
      return place
    }
  }

  init(
    _ node: RedisNode, _ settings: RedisSettings, _ tracker: RedisTracker, _ wake: WakePipe
  ) {
    self.node = node
    self.settings = settings
    self.tracker = tracker
    self.wake = wake
    parser = RESPParser(settings.replyLimits)
  }

  /// The descriptor to wait for, and what for.
  var watch: SocketCalls.Watch {
    let isConnecting = attempt.map { !$0.isConnected } ?? false
    return SocketCalls.Watch(
      descriptor: link?.descriptor ?? -1, isWriting: isConnecting || isBlocked)
  }

  // MARK: Times

  /// Does what is due; returns the time of the next such thing.
  mutating func tend(at now: Int64) -> Int64? {
    failOverdue(at: now)
    if let attempt {
      if attempt.deadline <= now {
        lose(.timedOut, at: now)
      } else if !attempt.isConnected, attempt.placeDeadline <= now {
        link = nil
        connectToNext(at: now, .timedOut)
      }
    }
    askAgainIfDue(at: now)
    if let found = takePlaces() { act(on: found, at: now) }
    let slots = watchSlots(at: now)
    sendDelayed(at: now)
    leaveIfRetired(at: now)
    // After all that may lose the connection.
    connectIfDue(at: now)
    trackIfChanged()
    tracker.askForExchanges(on: node, every: settings.limits.heartbeat, at: now)
    if node.withState({ $0.pipeline.needsHeartbeat(at: now) }) {
      node.submitOwn(.command("PING"))
    }
    node.withState { $0.pipeline.sendTakingBack(at: now) }
    node.flush()
    isBlocked = node.withState { $0.pipeline.isBlocked }
    let next = node.withState { $0.pipeline.nextLook(at: now) }
    let placeDeadline = attempt?.isConnected == false ? attempt?.placeDeadline : nil
    let inquiry = attempt == nil ? nextInquiry : nil
    let delayed = node.withState { $0.delayed.first?.time }
    return [next, attempt?.deadline, placeDeadline, inquiry, slots, delayed].compactMap { $0 }.min()
  }

  private mutating func failOverdue(at now: Int64) {
    let overdue = node.withState { $0.pipeline.takeOverdue(at: now) }
    // Before the commands fail: their callers may ask memory next.
    if overdue.isSilent { lose(.timedOut, at: now) }
    for answer in overdue.answers { answer(.failure(.timedOut)) }
  }

  // MARK: Connecting

  private mutating func connectIfDue(at now: Int64) {
    let isIdle = node.withState { $0.pipeline.phase == .idle && !$0.isRetired }
    let isFollowed = isIdle && tracker.isFollowed
    let phase = node.withState { state -> RedisPipeline.Phase in
      if state.pipeline.isDue(at: now) || isFollowed {
        state.pipeline.beginConnecting()
      }
      return state.pipeline.phase
    }
    guard phase == .connecting, attempt == nil else { return }
    attempt = Attempt(deadline: now + settings.limits.deadline)
    lookUp(at: now)
  }

  mutating func greet(at now: Int64) {
    guard let link else { return }
    if let failure = link.failure {
      self.link = nil
      return connectToNext(at: now, failure)
    }
    attempt?.isConnected = true
    let step = tracker.step(after: nil, on: node.number)
    sent = step.sent
    let (answers, deadline) = (attempt?.answers, attempt?.deadline ?? now)
    let greeting = (settings.greeting + step.requests).map { request in
      PendingReply(
        request: request, deadline: deadline,
        answer: { result in answers?.withLock { $0.append(result) } }, isOwn: true)
    }
    node.withState { state in
      state.link = link
      state.pipeline.greet(greeting, at: now)
    }
    node.flush()
  }

  // MARK: Tracking and the end

  /// Tells the server about prefixes that have been added.
  private mutating func trackIfChanged() {
    guard attempt == nil, link != nil, tracker.version != sent.version else { return }
    let step = tracker.step(after: sent, on: node.number)
    // Until the server has answered, nothing is known about changes.
    if step.isAnew { tracker.ended(on: node) }
    let reads = tracker.reads(after: sent.version)
    sent = step.sent
    for request in reads + step.requests.dropLast() { node.submitOwn(request) }
    let (version, generation) = (sent.version, node.generation)
    // Without any, after the answers to earlier ones.
    node.submitOwn(step.requests.last ?? .command("PING")) {
      [node, tracker, wake] result in
      if case .success = result {
        tracker.began(on: node, version)
        return wake.signal()
      }
      // Without reports the connection is of no use; if it is lost already, the next one tracks.
      if node.generation == generation { node.withState { $0.link }?.shutDown() }
    }
  }

  mutating func lose(_ error: RedisError, at now: Int64) {
    // First of all: from here on no get is answered from memory that the server has not confirmed.
    tracker.ended(on: node)
    link?.shutDown()
    link = nil
    if attempt?.isConnected == true { passedPlaces += 1 }
    (attempt, nextInquiry) = (nil, nil)
    if settings.address.isCluster { askForSlots() }
    parser = RESPParser(settings.replyLimits)
    let share = settings.chance()
    let failed = node.withState { state in
      state.link = nil
      return state.pipeline.lose(error, at: now, share: share)
    }
    for answer in failed { answer(.failure(error)) }
  }
}
