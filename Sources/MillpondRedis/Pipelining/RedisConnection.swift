import MillpondCore
import MillpondSignals
import MillpondSockets

/// One connection of a client, as every thread sees it: the acting part of a ``RedisPipeline``, or, in
/// a cluster, of one for each of its primaries.
///
/// A key has one connection, so its commands are carried out in the order of their submission, and
/// its invalidations arrive between the answers where the server put them. All primaries of a cluster
/// are one connection: a slot that moves keeps the order of its writes.
final class RedisConnection: Sendable {
  let number: Int
  let wake: WakePipe
  private let limits: ConnectionLimits
  private let state: Locked<State>

  struct State: Sendable {
    /// The servers: one, or the primaries of a cluster and former ones.
    var nodes: [NodeState]

    /// The order of the writes of each cache's keys, by the number of the cache.
    var orders: [Int: WriteOrder<String>] = [:]

    /// The places of the slots' servers among the nodes; empty if the server is no cluster, or has not
    /// told them yet.
    var slots: [Int] = []

    /// The number of times that slots have begun to move.
    var moves = 0

    /// The number of commands that servers have sent on to others.
    var detours = 0
    var watch = SlotWatch()

    /// Takes a command for the server of its slot, or for one whose place is named.
    fileprivate mutating func submit(
      _ reply: PendingReply, to place: Int?, at now: Int64
    ) -> (RedisPipeline.Step, NodeWriting?) {
      let place = place ?? self.place(of: reply.slot)
      if let slot = reply.slot, let refusal = hold(reply, of: slot, at: place) {
        return (refusal, nil)
      }
      let step = nodes[place].pipeline.submit(reply, at: now)
      let isSent = step == .send || step == .sendAndWake
      return (step, isSent ? nodes[place].beginWriting(place) : nil)
    }

    /// The place of the server of a slot.
    func place(of slot: Int?) -> Int {
      guard let slot, !slots.isEmpty else { return 0 }
      return slots[slot]
    }
  }

  init(_ number: Int, _ limits: ConnectionLimits, _ wake: WakePipe, to address: RedisAddress) {
    self.number = number
    self.limits = limits
    self.wake = wake
    state = Locked(State(nodes: [NodeState(limits, address)]))
  }

  /// Submits a command that is made under the lock of the orders, unless that makes none.
  ///
  /// - Parameters:
  ///   - reply: Returns the command and the receiver of its answer, with its deadline and with the
  ///     orders of all caches.
  ///   - place: The place of the server; nil for that of the command's slot.
  /// - Returns: Whether there was a command.
  func submit(
    to place: Int? = nil,
    _ reply: (_ deadline: Int64, inout [Int: WriteOrder<String>]) -> PendingReply?
  ) -> Bool {
    let now = SocketCalls.now()
    var writing: NodeWriting?
    var refused: PendingReply?
    let step = state.withLock { state -> RedisPipeline.Step? in
      guard let reply = reply(now + limits.deadline, &state.orders) else { return nil }
      let step: RedisPipeline.Step
      (step, writing) = state.submit(reply, to: place, at: now)
      if case .refuse = step { refused = reply }
      return step
    }
    guard let step else { return false }
    send(&writing)
    switch step {
    case .nothing, .send: break
    case .wake, .sendAndWake: wake.signal()
    case .refuse(let error): refused?.answer(.failure(error))
    }
    return true
  }

  /// Sends what is to be sent to a server, unless another thread does.
  func flush(_ place: Int) {
    var writing = state.withLock { $0.nodes[place].beginWriting(place) }
    send(&writing)
  }

  private func send(_ next: inout NodeWriting?) {
    // Taken out, so that the room of the bytes has one owner and is used again.
    while var writing = exchange(&next, with: nil) {
      let before = writing.output.sent
      writing.link.send(&writing.output)
      let (sent, isBlocked) = (writing.output.sent - before, writing.output.isBlocked)
      next = state.withLock { state in
        state.nodes[writing.place].endWriting(&writing.output, sent)
        return state.nodes[writing.place].beginWriting(writing.place)
      }
      // The thread of the connections waits until there is room.
      if isBlocked { wake.signal() }
    }
  }

  /// Runs `body` with the state; only our own pure code.
  func withState<Result>(_ body: (inout State) -> Result) -> Result {
    state.withLock(body)
  }

  /// The servers that it leads to.
  var nodes: [RedisNode] {
    withState { Array($0.nodes.indices) }.map { RedisNode(connection: self, place: $0) }
  }
}
