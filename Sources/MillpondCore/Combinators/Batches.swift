import MillpondSignals
import Synchronization

/// The open batch of a ``Batched`` source, and the calls of closed ones.
final class Batches<Key: Hashable & Sendable, Value: Sendable>: Sendable {
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

  /// Adds a caller to the open batch, or opens a new one.
  ///
  /// A caller that runs inside a call for the same key fails with ``CacheError/circular(key:)``.
  func enter(_ key: Key, _ observer: Observer<Value>, _ lifetime: Lifetime) {
    let context = WorkContext.current
    if context?.works(for: key, in: ObjectIdentifier(self)) ?? false {
      return observer.failed(CacheError.circular(key: "\(key)"))
    }
    let caller = BatchCaller(observer.inContext(of: context), lifetime)
    while true {
      let (batch, isNew) = openBatch()
      let admission = batch.enter(key, caller, max: max)
      if admission == .closed {
        discard(batch)
        continue
      }
      lifetime.onEnd { self.leave(batch, key, caller) }
      if context?.wait(for: batch, until: lifetime) == false {
        leave(batch, key, caller)
        observer.failed(CacheError.circular(key: "\(key)"))
      }
      if admission == .full {
        call(batch)
      } else if isNew {
        batch.timer.set(scheduler.schedule(after: window) { self.call(batch) })
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

  private func leave(_ batch: Batch<Key, Value>, _ key: Key, _ caller: BatchCaller<Value>) {
    guard batch.leave(key, caller) else { return }
    discard(batch)
    batch.lifetime.end()
  }
}

/// A flight of several keys: gets that share one call.
final class Batch<Key: Hashable & Sendable, Value: Sendable>: FlightHandle, @unchecked Sendable {
  // Sendable because what it holds is immutable or locked.
  typealias Caller = BatchCaller<Value>

  /// The lifetime of the call, and of the timer before it.
  let lifetime = Lifetime()

  /// The timer of the call, until it begins or the batch ends.
  let timer = TimerSlot()
  private let table: ObjectIdentifier
  private let state = Locked(State())

  private struct State: Sendable {
    var callers: [Key: BatchCallers<Value>] = [:]
    var order: [Key] = []
    var phase = Phase.open
  }

  private enum Phase {
    case open, full, begun
  }

  init(in table: ObjectIdentifier, _ scheduler: Scheduler) {
    self.table = table
    super.init(.normal, FlightClock(scheduler))
    lifetime.onEnd { [timer] in timer.close() }
  }

  /// Whether a caller waits for `key` in this batch.
  override func isFlight(of key: some Hashable & Sendable, in table: ObjectIdentifier) -> Bool {
    guard table == self.table, let key = key as? Key else { return false }
    return state.withLock { $0.callers[key] != nil }
  }

  /// The result of entering a batch.
  enum Admission {
    /// The batch is closed; the caller did not enter.
    case closed

    /// The caller entered; others can follow.
    case open

    /// The caller entered and filled the batch, so it makes the call.
    case full
  }

  func enter(_ key: Key, _ caller: Caller, max: Int) -> Admission {
    state.withLock { state in
      if state.phase != .open { return .closed }
      if state.callers[key] == nil { state.order.append(key) }
      state.callers[key, default: BatchCallers()].add(caller)
      if state.callers.count < max { return .open }
      state.phase = .full
      return .full
    }
  }

  /// Removes a caller; returns whether none is left.
  ///
  /// False if the caller had its answer already.
  func leave(_ key: Key, _ caller: Caller) -> Bool {
    typealias Gone = (key: Key, value: BatchCallers<Value>)
    let (isEmpty, gone) = state.withLock { state -> (Bool, Gone?) in
      guard let place = state.callers.index(forKey: key),
        state.callers.values[place].remove(caller), state.callers.values[place].isEmpty
      else { return (false, nil) }
      let gone = state.callers.remove(at: place)
      if state.callers.isEmpty, state.phase == .open { state.phase = .begun }
      return (state.callers.isEmpty, gone)
    }
    withExtendedLifetime(gone) {}  // released here, not under the lock
    return isEmpty
  }

  /// Begins the call and returns its keys, in the order of the first gets; empty the second time.
  func beginCall() -> [Key] {
    let (order, wanted) = state.withLock { state in
      defer {
        state.phase = .begun
        state.order = []
      }
      return (state.order, state.callers)
    }
    timer.close()
    // A key whose callers all left before another one came is in the order twice.
    var seen: Set<Key> = []
    return order.filter { wanted[$0] != nil && seen.insert($0).inserted }
  }

  /// Answers the callers of these keys, and ends the call when no caller is left.
  func receive(_ answers: [Key: Value]) {
    for (key, value) in answers {
      for caller in removeCallers(of: key) { caller.answer(value) }
    }
    if state.withLock({ $0.callers.isEmpty }) { lifetime.end() }
  }

  func receive(_ event: Event<Never>) {
    guard event.isTerminal else { return allCallers.forEach { $0.send(event) } }
    for caller in removeAllCallers() { caller.send(event) }
    lifetime.end()
  }

  private func removeCallers(of key: Key) -> [Caller] {
    let removed = state.withLock { state in
      state.callers.index(forKey: key).map { state.callers.remove(at: $0) }
    }
    return removed?.value.all ?? []
  }

  private var allCallers: [Caller] {
    state.withLock { $0.callers.values.flatMap(\.all) }
  }

  private func removeAllCallers() -> [Caller] {
    let removed = state.withLock { state in
      defer { state.callers = [:] }
      return state.callers
    }
    return removed.values.flatMap(\.all)
  }
}

/// The callers that wait for one key of a batch, in the order of their arrival.
///
/// - Complexity: O(1) to add or remove a caller, amortised.
struct BatchCallers<Value: Sendable>: Sendable {
  /// A slot for each caller; slots of callers that have left stay vacant until most are.
  private(set) var slots: ContiguousArray<BatchCaller<Value>?> = []
  private var vacantCount = 0

  var isEmpty: Bool {
    vacantCount == slots.count
  }

  var all: [BatchCaller<Value>] {
    slots.compactMap { $0 }
  }

  mutating func add(_ caller: BatchCaller<Value>) {
    caller.slot = slots.count
    slots.append(caller)
  }

  /// Removes a caller, which is released later; false if it is not among these.
  mutating func remove(_ caller: BatchCaller<Value>) -> Bool {
    let slot = caller.slot
    guard slot < slots.count, slots[slot] === caller else { return false }
    slots[slot] = nil
    vacantCount += 1
    while let last = slots.last, last == nil {
      slots.removeLast()
      vacantCount -= 1
    }
    if vacantCount > slots.count / 2 + 4 { compact() }
    return true
  }

  private mutating func compact() {
    let callers = all
    (slots, vacantCount) = ([], 0)
    for caller in callers { add(caller) }
  }
}

/// A caller that waits for one key of a batch.
final class BatchCaller<Value: Sendable>: Sendable {
  private let observer: Observer<Value>
  private let lifetime: Lifetime

  private let index = Atomic(0)

  /// The index of its slot; changes under the lock of the batch.
  fileprivate(set) var slot: Int {
    get { index.load(ordering: .relaxed) }
    set { index.store(newValue, ordering: .relaxed) }
  }

  init(_ observer: Observer<Value>, _ lifetime: Lifetime) {
    self.observer = observer
    self.lifetime = lifetime
  }

  func answer(_ value: Value) {
    if lifetime.isEnded { return }
    observer.next(value)
    if !lifetime.isEnded { observer.completed() }
  }

  func send(_ event: Event<Never>) {
    if !lifetime.isEnded { observer.other(event) }
  }
}
