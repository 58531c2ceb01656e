public import MillpondSignals

extension Source {
  /// Runs at most `count` gets at once; the others wait, by priority and then in order.
  ///
  /// A get holds its slot from its start to its end, or until its caller leaves. Immediate answers
  /// need no slot, nor do gets with ``Freshness/cachedOnly``. Writes are not limited. A get made by
  /// a flight has the priority that the flight has at that moment, so an urgent caller that joins
  /// moves it forward.
  ///
  /// Work that makes further gets through the same limit lends its slot while it waits for them, if
  /// they are part of the signal that it returns, or are awaited in a task. Whether it waits for a
  /// get that it only subscribes to is unknown: such a get needs a slot, but if every slot is held
  /// by work that may be waiting, one more runs. Tasks that outlive the get have no slot to lend.
  ///
  /// The end of a get starts the next one inside its call. If that ends there too, those that
  /// follow start on a global queue, so no caller runs the work of many others. A caller that leaves
  /// runs no work of others: then the next get starts on a global queue.
  ///
  /// - Parameters:
  ///   - count: The number of slots; at least one.
  ///   - reserved: The number of slots kept for gets of normal or high priority. At least one slot
  ///     is open to all, so that no get waits for ever.
  ///   - maxWaiting: The greatest number of gets that wait; without it, any number. A get beyond it
  ///     fails at once with ``CacheError/tooManyWaiting(key:layer:limit:)``, whatever its priority:
  ///     no waiting get is given up for it. With zero or less no get waits.
  /// - Complexity: O(log *n*) to wait, in the number of waiting gets.
  public func limited(
    to count: Int, reserved: Int = 0, maxWaiting: Int = .max
  ) -> Governed<Self> {
    limited(by: ConcurrencyLimiter(count, reserved: reserved, maxWaiting: maxWaiting))
  }

  package func limited(by slots: ConcurrencyLimiter) -> Governed<Self> {
    Governed(self, by: .turns(slots))
  }
}

/// The slots of a limit, and the gets that wait for one.
@usableFromInline
package final class ConcurrencyLimiter: TurnLimiter {
  private let count: Int
  private let reserved: Int
  @usableFromInline let maxWaiting: Int
  private let state: Locked<ConcurrencyLimiterState>
  private let inBackground: @Sendable (@escaping @Sendable () -> Void) -> Void

  /// Creates a limit.
  ///
  /// - Parameters:
  ///   - count: The number of slots.
  ///   - reserved: The number of slots for gets of normal or high priority.
  ///   - maxWaiting: The greatest number of gets that wait.
  ///   - inBackground: Runs an action outside this call; on a global queue if it is nil.
  @usableFromInline
  package init(
    _ count: Int, reserved: Int, maxWaiting: Int = .max,
    inBackground: (@Sendable (@escaping @Sendable () -> Void) -> Void)? = nil
  ) {
    self.count = max(1, count)
    self.reserved = min(max(0, reserved), self.count - 1)
    self.maxWaiting = max(0, maxWaiting)
    self.inBackground = inBackground ?? { runInBackground($0) }
    state = Locked(
      ConcurrencyLimiterState(
        count: self.count, reserved: self.reserved, WaiterQueue(limit: self.maxWaiting)))
  }

  /// A description of the limit.
  @usableFromInline
  var title: String {
    "limited to \(count)" + (reserved > 0 ? ", \(reserved) reserved" : "")
  }

  /// Calls `work` when a slot is free, with a lifetime whose end returns the slot; never if
  /// `lifetime` ends first.
  ///
  /// Work that holds a slot already, and waits for this work, lends it meanwhile.
  ///
  /// - Returns: False if too many gets wait already; then `work` is never called.
  @usableFromInline
  package func take(
    _ lookup: Lookup, _ lifetime: Lifetime, _ work: @escaping @Sendable (Lifetime) -> Void
  ) -> Bool {
    let waiter = QueuedWaiter<SlotTurn>(lookup, lifetime.child(), work)
    // Ends before the slot does, so that a lent slot goes back to its holder.
    waiter.caller?.wait(forSlotOf: ObjectIdentifier(self), until: waiter.lifetime)
    let admission = state.withLock { $0.enter(waiter) }
    if case .refused = admission {
      waiter.lifetime.end()
      return false
    }
    waiter.lifetime.onEnd { self.leave(waiter) }
    if case .starts(let next) = admission {
      if start(next) { startWaiting() }
      if next === waiter { return true }
    }
    waiter.onRaise { self.raise(waiter) }
    // The priority may have risen before the observation began, or qualify for a reserved slot.
    raise(waiter)
    return true
  }

  /// Changes the state of a slot, and starts the gets for which that makes room.
  private func change(_ slot: HeldSlot, _ body: (HeldSlot) -> Void) {
    if state.withLock({ $0.change(slot, body) }) { startWaiting() }
  }

  private func raise(_ waiter: QueuedWaiter<SlotTurn>) {
    state.withLock { $0.queue.raise(waiter) }
    startWaiting()
  }

  /// Starts the waiting gets for which there are slots.
  ///
  /// A get that frees a slot starts the next one, but not those that follow it: once a get has
  /// ended inside its start, the others start in the background. So does a search for the next get
  /// that takes more than a step.
  private func startWaiting() {
    if !startsWaiting() { startWaitingInBackground() }
  }

  private func startWaitingInBackground() {
    inBackground { while !self.startsWaiting() {} }
  }

  /// Starts waiting gets; returns false after a get that ended inside its start, or if the next one
  /// is not known yet.
  private func startsWaiting() -> Bool {
    while true {
      switch state.withLock({ $0.next() }) {
      case .next(let waiter): if start(waiter) { return false }
      case .none: return true
      case .unknown: return false
      }
    }
  }

  /// Runs the work of a get that has a slot; returns whether it ended inside its start, so that its
  /// slot is free again, and others wait for it.
  private func start(_ waiter: QueuedWaiter<SlotTurn>) -> Bool {
    let slot = HeldSlot(of: ObjectIdentifier(self), within: waiter.caller) { self.change($0, $1) }
    waiter.start(holding: slot)
    return waiter.isSecond() && state.withLock { $0.change(slot) { $0.isHeld = false } }
  }

  private func leave(_ waiter: QueuedWaiter<SlotTurn>) {
    let wasWaiting = state.withLock { $0.queue.leave(waiter) }
    let isOver = waiter.turn?.isOver ?? false
    waiter.forget()
    // Only now: another thread may have stored the slot since.
    guard !wasWaiting, waiter.isSecond(), let turn = waiter.turn,
      state.withLock({ $0.change(turn.slot) { $0.isHeld = false } })
    else { return }
    // A caller that leaves runs no work of others, also if its work ends meanwhile.
    if isOver { startWaiting() } else { startWaitingInBackground() }
  }
}

/// The number of free slots, and the queue for them.
private struct ConcurrencyLimiterState: Sendable {
  let count: Int

  /// The number of free slots; negative while lent slots are in use.
  var free: Int
  let reserved: Int
  var queue: WaiterQueue<SlotTurn>

  /// The number of slots held by work that may or may not be waiting.
  private var doubtful = 0

  init(count: Int, reserved: Int, _ queue: WaiterQueue<SlotTurn>) {
    self.count = count
    free = count
    self.reserved = reserved
    self.queue = queue
  }

  /// Changes a slot; returns whether gets wait, for which that may have made room.
  mutating func change(_ slot: HeldSlot, _ body: (HeldSlot) -> Void) -> Bool {
    count(slot, -1)
    body(slot)
    count(slot, 1)
    return !queue.isEmpty
  }

  private mutating func count(_ slot: HeldSlot, _ change: Int) {
    guard slot.isHeld, slot.waits == 0 else { return }
    free -= change
    if slot.doubtfulWaits > 0 { doubtful += change }
  }

  /// Whether there is a slot for work of that priority.
  ///
  /// If every holder of a slot may be waiting, there is one more slot: they might wait for ever.
  private func hasRoom(for priority: Priority) -> Bool {
    free > (priority == .low ? reserved : 0) || doubtful > 0 && doubtful == count - free
  }

  /// Takes a slot for the waiter or enqueues it; refuses it if the queue is too long and no waiter
  /// can start.
  mutating func enter(_ waiter: QueuedWaiter<SlotTurn>) -> WaiterQueue<SlotTurn>.Admission {
    if queue.isEmpty, hasRoom(for: waiter.priority) {
      free -= 1
      return .starts(waiter)
    }
    queue.enter(waiter)
    guard queue.isTooLong else { return .waits }
    var turn = next()
    while case .unknown = turn { turn = next() }
    return queue.admission(of: waiter, by: turn)
  }

  /// Takes a slot for the next waiter in the queue, if there is one for it.
  mutating func next() -> WaiterQueue<SlotTurn>.Step {
    guard hasRoom(for: .high) else { return .none }
    let hasRoomForLow = hasRoom(for: .low)
    let turn = queue.popFirst { $0 != .low || hasRoomForLow }
    if case .next = turn { free -= 1 }
    return turn
  }
}
