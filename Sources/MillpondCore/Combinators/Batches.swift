import MillpondSignals

/// The batch that is being gathered, and the calls of those that were.
final class Batches<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private let window: Duration
  private let max: Int
  private let timeline: Timeline
  private let makeCall: @Sendable ([Key]) -> Signal<[Key: Value]>
  private let open = Locked<Batch<Key, Value>?>(nil)

  init(
    window: Duration, max: Int, _ timeline: Timeline,
    _ call: @escaping @Sendable ([Key]) -> Signal<[Key: Value]>
  ) {
    self.window = Swift.max(.zero, window)
    self.max = Swift.max(1, max)
    self.timeline = timeline
    makeCall = call
  }

  /// Lets an asker take part in the batch that is being gathered, or begins one.
  ///
  /// One that works for a call of the same key fails with ``CacheError/circular(key:)``.
  func enter(_ key: Key, _ observer: Observer<Value>, _ lifetime: Lifetime) {
    let context = WorkContext.current
    if context?.works(for: key, in: ObjectIdentifier(self)) ?? false {
      return observer.failed(CacheError.circular(key: "\(key)"))
    }
    let asker = BatchAsker(observer.inContext(of: context), lifetime)
    while true {
      let (batch, isNew) = openBatch()
      let entrance = batch.enter(key, asker, max: max)
      if entrance == .closed {
        discard(batch)
        continue
      }
      lifetime.onEnd { self.leave(batch, key, asker) }
      if context?.wait(for: batch, until: lifetime) == false {
        leave(batch, key, asker)
        observer.failed(CacheError.circular(key: "\(key)"))
      }
      if entrance == .full {
        call(batch)
      } else if isNew {
        batch.keep(timer: timeline.schedule(after: window) { self.call(batch) })
      }
      return
    }
  }

  /// The batch that is being gathered; whoever is given a new one sets its timer.
  private func openBatch() -> (batch: Batch<Key, Value>, isNew: Bool) {
    open.withLock { open in
      if let open { return (open, false) }
      let new = Batch<Key, Value>(in: ObjectIdentifier(self), timeline)
      open = new
      return (new, true)
    }
  }

  /// Lets go of a batch that nobody can enter any more.
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

  private func leave(_ batch: Batch<Key, Value>, _ key: Key, _ asker: BatchAsker<Value>) {
    guard batch.leave(key, asker) else { return }
    discard(batch)
    batch.lifetime.end()
  }
}

/// A flight of several keys: the gets that share one call.
final class Batch<Key: Hashable & Sendable, Value: Sendable>: FlightHandle, @unchecked Sendable {
  // Sendable because what it holds is immutable or locked.
  typealias Asker = BatchAsker<Value>

  /// That of the call, and before it of the timer.
  let lifetime = Lifetime()
  private let table: ObjectIdentifier
  private let state = Locked(State())

  private struct State: Sendable {
    var askers: [Key: [Asker]] = [:]
    var order: [Key] = []
    var timer: Disposable?
    var phase = Phase.open
  }

  private enum Phase {
    case open, full, begun
  }

  init(in table: ObjectIdentifier, _ timeline: Timeline) {
    self.table = table
    super.init(.normal, FlightClock(timeline))
  }

  /// Whether somebody waits for `key` here.
  override func isFlight(of key: some Hashable & Sendable, in table: ObjectIdentifier) -> Bool {
    guard table == self.table, let key = key as? Key else { return false }
    return state.withLock { $0.askers[key] != nil }
  }

  /// What an asker finds.
  enum Entrance {
    /// Nobody can enter any more.
    case closed

    /// He is in, and others may follow.
    case open

    /// He is in, and the last one: the call is his to make.
    case full
  }

  func enter(_ key: Key, _ asker: Asker, max: Int) -> Entrance {
    state.withLock { state in
      if state.phase != .open { return .closed }
      if state.askers[key] == nil { state.order.append(key) }
      state.askers[key, default: []].append(asker)
      if state.askers.count < max { return .open }
      state.phase = .full
      return .full
    }
  }

  /// Whether nobody is left by this, so that there is no more to do; not if he had been answered.
  func leave(_ key: Key, _ asker: Asker) -> Bool {
    let (isEmpty, gone) = state.withLock { state -> (Bool, (key: Key, value: [Asker])?) in
      guard let place = state.askers.index(forKey: key),
        let index = state.askers.values[place].firstIndex(where: { $0 === asker })
      else { return (false, nil) }
      if state.askers.values[place].count > 1 {
        return (false, (key, [state.askers.values[place].remove(at: index)]))
      }
      let gone = state.askers.remove(at: place)
      if state.askers.isEmpty, state.phase == .open { state.phase = .begun }
      return (state.askers.isEmpty, gone)
    }
    _ = gone  // released here, not under the lock
    return isEmpty
  }

  /// Stops the timer with the batch, or when the call begins.
  func keep(timer: Disposable) {
    lifetime.onEnd { timer.dispose() }
    let isLate = state.withLock { state in
      if state.phase == .open { state.timer = timer }
      return state.phase != .open
    }
    if isLate { timer.dispose() }
  }

  /// The keys that somebody waits for; none if that was asked before.
  func beginCall() -> [Key] {
    let (order, wanted, timer) = state.withLock { state in
      defer {
        state.phase = .begun
        state.timer = nil
        state.order = []
      }
      return (state.order, state.askers, state.timer)
    }
    timer?.dispose()
    // Who has left and come again is in the order twice.
    var seen: Set<Key> = []
    return order.filter { wanted[$0] != nil && seen.insert($0).inserted }
  }

  /// Answers those whose keys the call has brought, and gives up a call nobody waits for any more.
  func receive(_ answers: [Key: Value]) {
    for (key, value) in answers {
      for asker in take(key) { asker.answer(value) }
    }
    if state.withLock({ $0.askers.isEmpty }) { lifetime.end() }
  }

  func receive(_ event: Event<Never>) {
    guard event.isTerminal else { return everybody.forEach { $0.send(event) } }
    for asker in takeAll() { asker.send(event) }
    lifetime.end()
  }

  private func take(_ key: Key) -> [Asker] {
    let taken = state.withLock { state in
      state.askers.index(forKey: key).map { state.askers.remove(at: $0) }
    }
    return taken?.value ?? []
  }

  private var everybody: [Asker] {
    state.withLock { $0.askers.values.flatMap { $0 } }
  }

  private func takeAll() -> [Asker] {
    let taken = state.withLock { state in
      defer { state.askers = [:] }
      return state.askers
    }
    return taken.values.flatMap { $0 }
  }
}

/// One who waits for a key of a batch.
final class BatchAsker<Value: Sendable>: Sendable {
  private let observer: Observer<Value>
  private let lifetime: Lifetime

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
