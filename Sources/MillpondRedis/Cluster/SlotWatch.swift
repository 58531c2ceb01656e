import MillpondSignals
import MillpondSockets

/// The questions to a cluster for its slots, one at a time.
struct SlotWatch: Sendable {
  /// The time of the next question; nil while nothing needs the cluster.
  var nextTime: Int64?

  /// The time before which the cluster is not asked again, whatever happens.
  private var earliestTime = Int64.min
  private var isAsking = false

  /// The answer to act on.
  var found: Result<ClusterTopology, RedisError>?

  /// Whether a question is due; then it has begun.
  mutating func begin(at now: Int64, _ limits: ConnectionLimits) -> Bool {
    guard !isAsking, let time = nextTime, max(time, earliestTime) <= now else { return false }
    isAsking = true
    earliestTime = now + limits.firstPause
    nextTime = now + limits.heartbeat
    return true
  }

  mutating func end(_ found: Result<ClusterTopology, RedisError>) {
    isAsking = false
    self.found = found
  }

  /// The time of the next look; nil if an answer comes before.
  var nextLook: Int64? { isAsking ? nil : nextTime.map { max($0, earliestTime) } }
}

/// The slots of a cluster, and where they are.
extension RedisConnectionDriver {
  var connection: RedisConnection { node.connection }

  /// The most servers that are asked at a time.
  private static var inquiredServers: Int { 5 }

  /// Has the cluster asked for its slots soon.
  func askForSlots() {
    connection.withState { $0.watch.nextTime = .min }
    wake.signal()
  }

  /// Asks the cluster for its slots if that is due, and acts on the answer; returns the time of the
  /// next look.
  mutating func watchSlots(at now: Int64) -> Int64? {
    guard settings.address.isCluster, node.place == 0 else { return nil }
    if let found = connection.withState({ exchange(&$0.watch.found, with: nil) }) {
      act(on: found, at: now)
    }
    let addresses = connection.withState { state -> [RedisAddress]? in
      guard state.watch.begin(at: now, settings.limits) else { return nil }
      return state.nodes.filter { !$0.isRetired }.map(\.address)
    }
    guard let addresses else { return connection.withState { $0.watch.nextLook } }
    var known = Set(addresses.filter { !$0.isCluster })
    if case .cluster(let servers) = settings.address { known.formUnion(servers) }
    let asked = Array(known.shuffled().prefix(Self.inquiredServers))
    runInBackground { [connection, settings, wake] in
      var inquiry = ServerInquiry(.slots(settings), asked, settings)
      let found = Result { () throws(RedisError) in try inquiry.answer() }
      connection.withState { $0.watch.end(found) }
      wake.signal()
    }
    return nil
  }

  private mutating func act(on found: Result<ClusterTopology, RedisError>, at now: Int64) {
    let isFirst = attempt?.isAskingForSlots == true
    attempt?.isAskingForSlots = false
    switch found {
    case .failure(let error):
      if isFirst { lose(error, at: now) }
    case .success(let topology):
      let (asked, refused) = connection.withState { $0.follow(topology, at: now) }
      tellTracker()
      for place in asked { endMoveAfterAnswers(from: place) }
      answer(refused)
      if isFirst { lookUp(at: now) }
    }
  }

  /// Lets memory count as current only while all servers with keys report.
  func tellTracker() {
    tracker.setNodes(connection.withState { $0.nodes.map { !$0.isRetired } })
  }

  /// Ends a move of slots when the former server has answered what was sent to it.
  func endMoveAfterAnswers(from place: Int) {
    RedisNode(connection: connection, place: place).submitOwn(.command("PING")) {
      [connection, wake] _ in
      let refused = connection.withState { state in
        state.nodes[place].move?.barriers -= 1
        return state.endMoving(from: place, at: SocketCalls.now())
      }
      for (reply, error) in refused { reply.answer(.failure(error)) }
      wake.signal()
    }
  }

  func answer(_ refused: RefusedReplies) {
    for (reply, error) in refused { reply.answer(.failure(error)) }
  }

  /// Leaves a server that has no slots any more.
  mutating func leaveIfRetired(at now: Int64) {
    // In one step, since others may submit commands.
    let hasLeft = node.withState { state in
      guard state.isRetired, state.isDone, state.pipeline.phase != .idle else { return false }
      state.link = nil
      state.sessions = []
      state.pipeline.leave()
      return true
    }
    if !hasLeft { return }
    tracker.ended(on: node)
    link?.shutDown()
    (link, attempt) = (nil, nil)
    parser = RESPParser(settings.replyLimits)
  }
}
