import MillpondSignals

/// Slots that are moving from one server of a cluster to others.
///
/// All commands of a slot are with one server at a time, so those of a key keep their order: what was
/// sent to the former server is answered before anything of these slots is sent to the new one.
struct SlotMove: Sendable {
  /// The places of the new servers, by slots.
  var targets: [Int: Int] = [:]

  /// The commands that the former server has sent on, in order, and its answers.
  var redirected: [(reply: PendingReply, message: String)] = []

  /// Those that were submitted meanwhile.
  var held: [PendingReply] = []

  /// The number of answers of the former server to wait for.
  var barriers = 0

  /// Takes out the writes of a slot that the former server has sent on, without those that only take
  /// something back.
  mutating func takeWrites(of slot: Int) -> RefusedReplies {
    let isWrite = { (reply: PendingReply) in
      reply.slot == slot && !reply.request.isRepeatable && !reply.isOwn
    }
    let taken = redirected.filter { isWrite($0.reply) }
    redirected.removeAll { isWrite($0.reply) }
    return taken.map { ($0.reply, .server(message: $0.message)) }
  }
}

/// The commands that could not be sent, and why; to be answered outside the lock.
typealias RefusedReplies = [(reply: PendingReply, error: RedisError)]

extension RedisConnection.State {
  /// The most servers, so that a faulty one can't name ever more.
  private static var nodeLimit: Int { 1_000 }

  /// Keeps a command whose slot is moving; returns the step of its submitter, or nil if it is not to
  /// be kept.
  mutating func hold(_ reply: PendingReply, of slot: Int, at place: Int) -> RedisPipeline.Step? {
    guard nodes[place].move?.targets[slot] != nil else { return nil }
    let limits = nodes[place].pipeline.limits
    if nodes[place].move?.held.count ?? 0 >= limits.commands {
      return .refuse(.tooManyCommands(limit: limits.commands))
    }
    nodes[place].move?.held.append(reply)
    return .nothing
  }

  /// Returns the place of the server at an address, a new one if need be; nil if there are too many.
  mutating func place(of address: RedisAddress) -> Int? {
    if let place = nodes.firstIndex(where: { $0.address == address }) {
      nodes[place].isRetired = false
      return place
    }
    // The first one asks for the slots, wherever it leads.
    let unused = nodes.indices.dropFirst().first { nodes[$0].isFree }
    if let unused {
      let generation = nodes[unused].pipeline.generation
      nodes[unused] = NodeState(nodes[0].pipeline.limits, address)
      // A writer to the former server may still report: that changes nothing.
      nodes[unused].pipeline.generation = generation + 1
      return unused
    }
    if nodes.count >= Self.nodeLimit { return nil }
    nodes.append(NodeState(nodes[0].pipeline.limits, address))
    return nodes.count - 1
  }

  /// Begins to move slots from one server to others.
  ///
  /// - Returns: Whether a command has to be sent to the former server, whose answer ends the move;
  ///   if not, it can end at once.
  mutating func beginMoving(_ targets: [Int: Int], from place: Int) -> Bool {
    moves += 1
    var move = nodes[place].move ?? SlotMove()
    move.targets.merge(targets) { old, _ in old }
    let isReady = nodes[place].pipeline.phase == .ready
    if isReady { move.barriers += 1 }
    nodes[place].move = move
    return isReady
  }

  /// Ends the move of slots, unless answers to earlier commands are missing.
  mutating func endMoving(from place: Int, at now: Int64) -> RefusedReplies {
    guard let move = nodes[place].move, move.barriers == 0 else { return [] }
    nodes[place].move = nil
    for (slot, target) in move.targets { slots[slot] = target }
    let isMoved = { (slot: Int?) in slot.map { move.targets[$0] != nil } ?? false }
    let undone = nodes[place].pipeline.takingBack.take(of: isMoved).map {
      PendingReply.takingBack($0.request, deadline: now, slot: $0.slot)
    }
    let waiting = nodes[place].pipeline.waiting.take { isMoved($0.slot) }
    let all = undone + move.redirected.map(\.reply) + waiting + move.held
    return all.reduce(into: []) { refused, reply in
      refused += send(reply, on: self.place(of: reply.slot), at: now)
    }
  }

  /// Sends a command on to another server, for which it has as long as any other.
  mutating func send(_ reply: PendingReply, on place: Int, at now: Int64) -> RefusedReplies {
    detours += 1
    if !reply.isOwn, reply.deadline <= now { return [(reply, .timedOut)] }
    var reply = reply
    reply.deadline = now + nodes[place].pipeline.limits.deadline
    if let slot = reply.slot, let step = hold(reply, of: slot, at: place) {
      return step.refused(reply)
    }
    return nodes[place].pipeline.submit(reply, at: now).refused(reply)
  }

  /// Sends a command on to a server that does not have its slot yet.
  mutating func sendAsking(
    _ reply: PendingReply, on place: Int, at now: Int64
  ) -> RefusedReplies {
    detours += 1
    if !reply.isOwn, reply.deadline <= now { return [(reply, .timedOut)] }
    var reply = reply
    reply.deadline = now + nodes[place].pipeline.limits.deadline
    let asking = PendingReply(
      request: .command("ASKING"), deadline: reply.deadline, answer: { _ in }, isOwn: true)
    _ = nodes[place].pipeline.submit(asking, at: now)
    return nodes[place].pipeline.submit(reply, at: now).refused(reply)
  }

  /// Moves the slots that have another server now; returns the places of the former servers that
  /// have to be asked before.
  mutating func follow(_ topology: ClusterTopology, at now: Int64) -> ([Int], RefusedReplies) {
    if slots.isEmpty, let first = topology.parts.first {
      nodes[0].address = first.primary
      slots = Array(repeating: 0, count: ClusterSlot.count)
    }
    var targets: [Int: [Int: Int]] = [:]
    for part in topology.parts {
      guard let target = place(of: part.primary) else { continue }
      for slot in part.slots where slots[slot] != target {
        if nodes[slots[slot]].move?.targets[slot] == nil {
          targets[slots[slot], default: [:]][slot] = target
        }
      }
    }
    var (asked, refused) = ([Int](), RefusedReplies())
    for (place, targets) in targets {
      if beginMoving(targets, from: place) {
        asked.append(place)
      } else {
        refused += endMoving(from: place, at: now)
      }
    }
    retireUnused()
    return (asked, refused)
  }

  /// Notes which servers have no slots any more.
  private mutating func retireUnused() {
    var used = Set(slots)
    for node in nodes { used.formUnion(node.move?.targets.values ?? [:].values) }
    for place in nodes.indices {
      nodes[place].isRetired = !used.contains(place) && nodes[place].move == nil
    }
  }
}

extension NodeState {
  /// Whether another server can take its place.
  fileprivate var isFree: Bool { isRetired && link == nil && pipeline.isUnused && !isLookingUp }
}

extension RedisPipeline {
  /// Whether nothing is connected, and nothing waits.
  var isUnused: Bool { phase == .idle && count == 0 && takingBack.isDone }
}

extension RedisPipeline.Step {
  fileprivate func refused(_ reply: PendingReply) -> RefusedReplies {
    if case .refuse(let error) = self { [(reply, error)] } else { [] }
  }
}
