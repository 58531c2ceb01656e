public import MillpondSignals

/// A source that collects gets and makes one call for many of them.
public final class Batched<Key: Hashable & Sendable, Value: Sendable>: Source {
  private let window: Duration
  private let max: Int
  private let scheduler: Scheduler
  private let makeCall: @Sendable ([Key]) -> Signal<[Key: Value]>
  private let open = Locked<Batch<Key, Value>?>(nil)

  init(
    window: Duration, max: Int, _ scheduler: Scheduler,
    _ call: @escaping @Sendable ([Key]) -> Signal<[Key: Value]>
  ) {
    self.window = Swift.max(.zero, window)
    self.max = Swift.max(1, max)
    self.scheduler = scheduler
    makeCall = call
  }

  /// Joins the open batch, and answers from its call.
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    Signal { [self] observer, lifetime in enter(key, observer, lifetime) }
  }

  /// An origin.
  public func topology(for key: Key?) -> Topology {
    Topology(.origin, "batched")
  }

  /// Adds a caller to the open batch, or opens a new one.
  ///
  /// A caller that runs inside a call for the same key fails with ``CacheError/circular(key:)``. A
  /// key that does not equal itself, such as a NaN, is a miss: no answer could be told to be its.
  private func enter(_ key: Key, _ observer: Observer<Value>, _ lifetime: Lifetime) {
    guard key == key else { return observer.completed() }
    let context = WorkContext.current
    if context?.works(for: key, in: ObjectIdentifier(self)) ?? false {
      return observer.failed(CacheError.circular(key: String(withoutSecrets: key)))
    }
    let caller = BatchCaller(observer: observer.inContext(of: context), lifetime: lifetime)
    while true {
      let (batch, isNew) = openBatch()
      guard let (number, isFull) = batch.enter(key, caller, max: max) else {
        discard(batch)
        continue
      }
      lifetime.onEnd { self.leave(batch, key, number) }
      // Another thread may have called meanwhile, and ended this caller.
      if context?.wait(for: batch, until: lifetime) == false, leave(batch, key, number) {
        observer.failed(CacheError.circular(key: String(withoutSecrets: key)))
      }
      if isFull {
        call(batch)
      } else if isNew {
        scheduler.schedule(after: window, during: batch.pause) { self.call(batch) }
      }
      return
    }
  }

  /// Returns the open batch.
  ///
  /// If it is new, the caller sets its timer.
  private func openBatch() -> (batch: Batch<Key, Value>, isNew: Bool) {
    open.withLock { open in
      if let open { return (open, false) }
      let new = Batch<Key, Value>(in: ObjectIdentifier(self), scheduler)
      open = new
      return (new, true)
    }
  }

  /// Drops a batch that is closed.
  private func discard(_ batch: Batch<Key, Value>) {
    open.withLock { open in
      if open === batch { open = nil }
    }
  }

  private func call(_ batch: Batch<Key, Value>) {
    discard(batch)
    let keys = batch.beginCall()
    if keys.isEmpty { return }
    batch.begin()
    batch.lifetime.markAwaited()
    batch.lifetime.onEnd { batch.end() }
    WorkContext.run(in: batch) {
      makeCall(keys).run(
        Observer(next: { batch.receive($0) }, other: { batch.receive($0) }), batch.lifetime)
    }
  }

  /// Removes a caller; false if it has been ended already, or has left before.
  @discardableResult
  private func leave(_ batch: Batch<Key, Value>, _ key: Key, _ number: Int) -> Bool {
    guard let isEmpty = batch.leave(key, number) else { return false }
    if isEmpty {
      discard(batch)
      batch.lifetime.end()
    }
    return true
  }
}

/// A flight of several keys: gets that share one call.
final class Batch<Key: Hashable & Sendable, Value: Sendable>: FlightHandle, @unchecked Sendable {
  // Sendable because what it holds is immutable or locked.
  typealias Caller = BatchCaller<Value>

  /// The lifetime of the call, and of the timer before it.
  let lifetime: Lifetime

  /// The lifetime of the timer, which ends when the call begins, or with the batch.
  let pause: Lifetime
  private let table: ObjectIdentifier
  private let state = Locked(State())

  private struct State: Sendable {
    /// The callers of each key that has no answer yet.
    ///
    /// A key whose callers have all left stays, so that no number is used twice: a caller may leave
    /// more than once.
    var callers: [Key: Registry<Caller>] = [:]

    /// The keys in the order of their first gets.
    var order: [Key] = []

    /// The number of keys that have callers.
    var wantedCount = 0

    /// Whether callers can enter.
    var isOpen = true
  }

  init(in table: ObjectIdentifier, _ scheduler: Scheduler) {
    self.table = table
    let lifetime = Lifetime()
    self.lifetime = lifetime
    pause = lifetime.child()
    super.init(.normal, FlightClock(scheduler))
  }

  /// Whether a caller waits for `key` in this batch.
  override func isFlight(of key: some Hashable & Sendable, in table: ObjectIdentifier) -> Bool {
    guard table == self.table, let key = key as? Key else { return false }
    return state.withLock { $0.callers[key]?.elements.isEmpty == false }
  }

  /// Adds a caller, unless the batch is closed.
  ///
  /// - Returns: The number by which the caller leaves, and whether the batch is full now, so that
  ///   this caller makes the call; nil if the batch is closed.
  func enter(_ key: Key, _ caller: Caller, max: Int) -> (number: Int, isFull: Bool)? {
    state.withLock { state -> (number: Int, isFull: Bool)? in
      guard state.isOpen else { return nil }
      let count = state.callers[key]?.elements.count
      if count == nil { state.order.append(key) }
      if count ?? 0 == 0 { state.wantedCount += 1 }
      let number = state.callers[key, default: Registry()].add(caller)
      if state.wantedCount >= max { state.isOpen = false }
      return (number, !state.isOpen)
    }
  }

  /// Removes a caller; returns whether none is left.
  ///
  /// Nil if the caller had its answer already, or has left before.
  func leave(_ key: Key, _ number: Int) -> Bool? {
    let (gone, isEmpty) = state.withLock { state -> (Caller?, Bool?) in
      guard let place = state.callers.index(forKey: key),
        let gone = state.callers.values[place].remove(number)
      else { return (nil, nil) }
      if !state.callers.values[place].elements.isEmpty { return (gone, false) }
      state.wantedCount -= 1
      if state.wantedCount == 0 { state.isOpen = false }
      return (gone, state.wantedCount == 0)
    }
    withExtendedLifetime(gone) {}  // released here, not under the lock
    return isEmpty
  }

  /// Begins the call and returns its keys, in the order of the first gets; empty the second time.
  func beginCall() -> [Key] {
    let (order, wanted) = state.withLock { state in
      defer {
        state.isOpen = false
        state.order = []
      }
      return (state.order, state.callers)
    }
    pause.end()
    return order.filter { wanted[$0]?.elements.isEmpty == false }
  }

  /// Answers the callers of these keys, and ends the call when no caller is left.
  func receive(_ answers: [Key: Value]) {
    for (key, value) in answers {
      for (_, caller) in removeCallers(of: key) { caller.answer(value) }
    }
    if state.withLock({ $0.wantedCount == 0 }) { lifetime.end() }
  }

  func receive(_ event: Event<Never>) {
    for caller in allCallers(removing: event.isTerminal) { caller.send(event) }
    if event.isTerminal { lifetime.end() }
  }

  /// Removes the callers of a key, and returns them in the order of their arrival.
  private func removeCallers(of key: Key) -> [(number: Int, element: Caller)] {
    let removed = state.withLock { state -> (key: Key, value: Registry<Caller>)? in
      guard let place = state.callers.index(forKey: key) else { return nil }
      if !state.callers.values[place].elements.isEmpty { state.wantedCount -= 1 }
      return state.callers.remove(at: place)
    }
    return removed?.value.numbered ?? []
  }

  /// Returns the callers of all keys, those of one key in the order of their arrival.
  ///
  /// As an array: while a copy of the table existed, a caller that leaves would have to copy it.
  private func allCallers(removing: Bool) -> [Caller] {
    let table = state.withLock { state in
      defer { if removing { (state.callers, state.wantedCount) = ([:], 0) } }
      return state.callers
    }
    return table.values.flatMap { $0.numbered.map(\.element) }
  }
}

/// A caller that waits for one key of a batch.
struct BatchCaller<Value: Sendable>: Sendable {
  let observer: Observer<Value>
  let lifetime: Lifetime

  func answer(_ value: Value) {
    if lifetime.isEnded { return }
    observer.next(value)
    if !lifetime.isEnded { observer.completed() }
  }

  func send(_ event: Event<Never>) {
    if !lifetime.isEnded { observer.other(event) }
  }
}
