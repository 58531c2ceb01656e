public import MillpondSignals

extension WorkContext {
  /// Waits for a flight until `lifetime` ends; false if that would never end.
  ///
  /// If the flight needs slots of a limit, work that waits for it lends those that it holds.
  @usableFromInline
  package func wait(for other: WorkContext, until lifetime: Lifetime) -> Bool {
    for flight in flights {
      guard flight.waits(for: other) else { return false }
      lifetime.onEnd { flight.waitsNoMore(for: other) }
    }
    let isCertain = lifetime.isAwaited
    other.add(self, isCertain)
    lifetime.onEnd { other.remove(self, isCertain) }
    let wanted = other.wantedLimits
    if !wanted.isEmpty { lendSlots(of: { wanted.contains($0) }, isCertain, until: lifetime) }
    return true
  }

  /// Waits for a slot of the limit, and for the work in it, until `lifetime` ends; waiting work
  /// lends the slots of the same limit that it holds.
  func wait(forSlotOf limit: ObjectIdentifier, until lifetime: Lifetime) {
    if let flight = nearestFlight {
      flight.wants(limit)
      lifetime.onEnd { flight.wantsNoMore(limit) }
    }
    lendSlots(of: { $0 == limit }, lifetime.isAwaited, until: lifetime)
  }

  /// Whether this is work for a flight of `key` in `table`, or for work that such a flight waits
  /// for.
  func works<Key: Hashable & Sendable>(for key: Key, in table: ObjectIdentifier) -> Bool {
    reach(isCertain: true).contains {
      $0.context.nearestFlight?.isFlight(of: key, in: table) ?? false
    }
  }

  private func lendSlots(
    of isWanted: (ObjectIdentifier) -> Bool, _ isCertain: Bool, until lifetime: Lifetime
  ) {
    for (context, isCertain) in reach(isCertain: isCertain) {
      guard let limit = context.heldLimit, isWanted(limit) else { continue }
      context.lendSlot(isCertain: isCertain)
      lifetime.onEnd { context.takeSlotBack(isCertain: isCertain) }
    }
  }

  /// The innermost running flight whose work this is.
  private var nearestFlight: WorkContext? {
    flights.first { _ in true }
  }

  /// The running flights whose work this is, the innermost first; more than one if a write is
  /// prepared within a flight.
  private var flights: some Sequence<WorkContext> {
    sequence(first: self) { $0.outer }.lazy.compactMap { $0.flight }.filter { !$0.isOver }
  }

  /// Returns this context, the contexts around it, those that wait for its flight, and so on.
  ///
  /// A wait is certain if every step to it is.
  private func reach(isCertain: Bool) -> [(context: WorkContext, isCertain: Bool)] {
    var found: [ObjectIdentifier: Int] = [:]
    var all: [(context: WorkContext, isCertain: Bool)] = []
    func add(_ context: WorkContext, _ isCertain: Bool) {
      guard let place = found[ObjectIdentifier(context)] else {
        found[ObjectIdentifier(context)] = all.count
        return all.append((context, isCertain))
      }
      if isCertain { all[place].isCertain = true }
    }
    add(self, isCertain)
    var next = 0
    while next < all.count {
      let (context, isCertain) = all[next]
      next += 1
      if let outer = context.outer { add(outer, isCertain) }
      guard let flight = context.flight, !flight.isOver else { continue }
      for waiting in flight.waitingContexts { add(waiting.context, isCertain && waiting.isCertain) }
    }
    return all
  }
}

// MARK: The graph of waits

extension WorkContext {
  private var waits: Locked<Waits> {
    lazyWaits.locked(Waits())
  }

  /// Records that this flight waits for `other`; false if that one waits for this one, so that
  /// neither would ever end.
  ///
  /// Recorded first and searched afterwards: of two flights that begin to wait for each other at
  /// the same time, at least one sees the circle.
  private func waits(for other: WorkContext) -> Bool {
    if other === self { return false }
    waits.withLock { $0.waitsFor[ObjectIdentifier(other), default: (other, 0)].times += 1 }
    if !other.leads(to: self) { return true }
    waitsNoMore(for: other)
    return false
  }

  private func waitsNoMore(for other: WorkContext) {
    waits.discard { state in
      let id = ObjectIdentifier(other)
      state.waitsFor[id]?.times -= 1
      return state.waitsFor[id]?.times == 0 ? state.waitsFor.removeValue(forKey: id)?.flight : nil
    }
  }

  private func leads(to goal: WorkContext) -> Bool {
    followedFlights.contains { $0 === goal }
  }

  /// This flight, the flights that it waits for, and so on.
  private var followedFlights: [WorkContext] {
    var seen: Set<ObjectIdentifier> = [ObjectIdentifier(self)]
    var all = [self]
    var next = 0
    while next < all.count {
      for flight in all[next].waits.withLock({ $0.waitsFor.values.map(\.flight) })
      where seen.insert(ObjectIdentifier(flight)).inserted { all.append(flight) }
      next += 1
    }
    return all
  }

  /// Records that the work of `context` waits for this flight.
  private func add(_ context: WorkContext, _ isCertain: Bool) {
    waits.withLock { state in
      state.waiting[ObjectIdentifier(context), default: WaitingContext(context: context)]
        .count(1, isCertain)
    }
  }

  private func remove(_ context: WorkContext, _ isCertain: Bool) {
    waits.discard { state in
      let id = ObjectIdentifier(context)
      state.waiting[id]?.count(-1, isCertain)
      return state.waiting[id]?.isOver ?? false ? state.waiting.removeValue(forKey: id) : nil
    }
  }

  /// The contexts that wait for this flight, and whether each is certain to wait.
  private var waitingContexts: [(context: WorkContext, isCertain: Bool)] {
    waits.withLock { $0.waiting.values.map { ($0.context, $0.certain > 0) } }
  }

  /// Records that the flight's work needs or holds a slot of a limit.
  private func wants(_ limit: ObjectIdentifier) {
    waits.withLock { $0.wantedLimits[limit, default: 0] += 1 }
  }

  private func wantsNoMore(_ limit: ObjectIdentifier) {
    waits.withLock { state in
      state.wantedLimits[limit, default: 0] -= 1
      if state.wantedLimits[limit] == 0 { state.wantedLimits[limit] = nil }
    }
  }

  /// The limits whose slots this flight, and those it waits for, need.
  private var wantedLimits: Set<ObjectIdentifier> {
    followedFlights.reduce(into: []) { limits, flight in
      limits.formUnion(flight.waits.withLock { Array($0.wantedLimits.keys) })
    }
  }
}

/// The waits that concern one flight.
private struct Waits: Sendable {
  /// The flights for which its work waits.
  var waitsFor: [ObjectIdentifier: (flight: WorkContext, times: Int)] = [:]

  /// The contexts that wait for it.
  var waiting: [ObjectIdentifier: WaitingContext] = [:]

  /// The limits whose slots its work needs or holds.
  var wantedLimits: [ObjectIdentifier: Int] = [:]
}

/// The number of times that a context waits for a flight.
private struct WaitingContext: Sendable {
  let context: WorkContext
  var certain = 0
  var doubtful = 0

  var isOver: Bool { certain == 0 && doubtful == 0 }

  mutating func count(_ change: Int, _ isCertain: Bool) {
    if isCertain { certain += change } else { doubtful += change }
  }
}
