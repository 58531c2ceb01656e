import MillpondSignals

/// The commands that a cluster's servers send on (`MOVED`, `ASK`), or can't carry out for a moment.
extension RedisConnectionDriver {
  /// The most servers that send a command on.
  private static var redirections: Int { 8 }

  /// Sends a command on if its answer says that another server has its key; returns whether it did.
  mutating func redirect(_ reply: PendingReply, _ message: String, at now: Int64) -> Bool {
    guard settings.address.isCluster, reply.slot != nil, let server,
      reply.redirections < Self.redirections,
      let redirection = ClusterRedirection(message, from: server)
    else { return false }
    askForSlots()
    isDue = true
    var reply = reply
    reply.redirections += 1
    switch redirection {
    case .later:
      // A write that is sent again could come after later ones.
      guard reply.request.isRepeatable, reply.deadline > now else { return false }
      let time = now + settings.limits.firstPause / 2
      node.withState { $0.delayed.append(DelayedReply(time: time, reply: reply)) }
      return true
    case .moved(let slot, let address): return move(slot, to: address, reply, message, at: now)
    case .ask(_, let address):
      failOvertaken(by: reply)
      reply.isAsked = true
      let refused = connection.withState { state -> RefusedReplies? in
        guard let target = state.place(of: address) else { return nil }
        return state.sendAsking(reply, on: target, at: now)
      }
      tellTracker()
      answer(refused ?? [])
      return refused != nil
    }
  }

  private func move(
    _ slot: Int, to address: RedisAddress, _ reply: PendingReply, _ message: String, at now: Int64
  ) -> Bool {
    // A write that was sent to where its slot was moving may be older than what another has stored.
    guard slot == reply.slot, reply.request.isRepeatable || !reply.isAsked else { return false }
    let moving = connection.withState { state -> (isAsked: Bool, RefusedReplies)? in
      guard !state.slots.isEmpty, let target = state.place(of: address) else { return nil }
      if state.slots[slot] != node.place || target == node.place {
        return (false, state.send(reply, on: state.place(of: slot), at: now))
      }
      let isNews = state.nodes[node.place].move?.targets[slot] == nil
      let isAsked = isNews && state.beginMoving([slot: target], from: node.place)
      state.nodes[node.place].move?.redirected.append((reply, message))
      state.detours += 1
      return (isAsked, [])
    }
    guard let (isAsked, refused) = moving else { return false }
    tellTracker()
    if isAsked { endMoveAfterAnswers(from: node.place) }
    answer(refused)
    return true
  }

  /// Fails the earlier writes of a slot that wait until they can be sent on, since a later one has been
  /// carried out after all, or is sent to where the slot is moving.
  func failOvertaken(by reply: PendingReply) {
    guard settings.address.isCluster, let slot = reply.slot, !reply.request.isRepeatable else {
      return
    }
    answer(node.withState { $0.move?.takeWrites(of: slot) ?? [] })
  }

  /// Sends once more what a server could not carry out a moment ago.
  func sendDelayed(at now: Int64) {
    let refused = connection.withState { state -> RefusedReplies in
      let delayed = state.nodes[node.place].delayed
      if delayed.isEmpty { return [] }
      state.nodes[node.place].delayed = delayed.filter { $0.time > now }
      return delayed.filter { $0.time <= now }.reduce(into: []) { refused, delayed in
        refused += state.send(delayed.reply, on: state.place(of: delayed.reply.slot), at: now)
      }
    }
    answer(refused)
  }
}

/// A command that waits until a server of the cluster can carry it out.
struct DelayedReply: Sendable {
  let time: Int64
  let reply: PendingReply
}

/// The answer of a cluster's server that another one has the key, or will have it soon.
enum ClusterRedirection: Equatable {
  /// The slot has another server.
  case moved(slot: Int, RedisAddress)

  /// The slot is moving, and this key is at another server already, if anywhere.
  case ask(slot: Int, RedisAddress)

  /// The server may carry the command out in a moment.
  case later

  /// Reads an error; nil if it is no redirection.
  init?(_ message: String, from address: RedisAddress) {
    let words = message.split(separator: " ")
    switch words.first {
    case "CLUSTERDOWN", "TRYAGAIN": self = .later
    case "MOVED", "ASK":
      guard words.count == 3, let slot = Int(words[1]), (0..<ClusterSlot.count).contains(slot),
        let colon = words[2].lastIndex(of: ":"),
        let port = Int64(words[2][words[2].index(after: colon)...]),
        let target = address.node(host: String(words[2][..<colon]), port: port)
      else { return nil }
      self = words[0] == "MOVED" ? .moved(slot: slot, target) : .ask(slot: slot, target)
    default: return nil
    }
  }
}
