public import MillpondSignals

extension WorkContext {
  /// Waits for a flight until `lifetime` ends; false if that would be for ever.
  ///
  /// Where the flight itself wants slots, those that are held by the work that waits are lent.
  @usableFromInline
  func wait(for other: WorkContext, until lifetime: Lifetime) -> Bool {
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

  /// Waits for a slot of the limit, and for the work that gets it, until `lifetime` ends; slots of the
  /// same limit that are held by the work that waits are lent.
  func wait(forSlotOf limit: ObjectIdentifier, until lifetime: Lifetime) {
    if let flight = flights.first {
      flight.wants(limit)
      lifetime.onEnd { flight.wantsNoMore(limit) }
    }
    lendSlots(of: { $0 == limit }, lifetime.isAwaited, until: lifetime)
  }

  /// Whether this is work for a flight of `key` in `table`, or for one that such a flight waits for.
  func works<Key: Hashable & Sendable>(for key: Key, in table: ObjectIdentifier) -> Bool {
    reach(isCertain: true).contains {
      $0.context.flights.first?.isFlight(of: key, in: table) ?? false
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

  /// The flights of which this is the work, the innermost first, without those that have ended: several
  /// where a write is prepared within one.
  private var flights: [WorkContext] {
    var flights: [WorkContext] = []
    var next: WorkContext? = self
    while let context = next {
      if let flight = context.flight, !flight.isOver { flights.append(flight) }
      next = context.outer
    }
    return flights
  }

  /// This, the contexts around it, and those that wait for the flight it works for, and so on.
  ///
  /// A wait is certain if all on the way to it are.
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

  /// Notes that this flight waits for `other`; false if that waits for this one, so that neither
  /// would ever end.
  ///
  /// Noted first and then looked for: of two that start to wait for each other at one time, at
  /// least one sees it.
  private func waits(for other: WorkContext) -> Bool {
    if other === self { return false }
    waits.withLock { $0.waitsFor[ObjectIdentifier(other), default: (other, 0)].times += 1 }
    if !other.leads(to: self) { return true }
    waitsNoMore(for: other)
    return false
  }

  private func waitsNoMore(for other: WorkContext) {
    let gone = waits.withLock { state -> WorkContext? in
      let id = ObjectIdentifier(other)
      state.waitsFor[id]?.times -= 1
      return state.waitsFor[id]?.times == 0 ? state.waitsFor.removeValue(forKey: id)?.flight : nil
    }
    _ = gone  // released here, not under the lock
  }

  private func leads(to goal: WorkContext) -> Bool {
    followedFlights.contains { $0 === goal }
  }

  /// This flight, those it waits for, and so on.
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

  /// Notes that the work of `context` waits for this flight.
  private func add(_ context: WorkContext, _ isCertain: Bool) {
    waits.withLock { state in
      state.waiting[ObjectIdentifier(context), default: WaitingContext(context: context)]
        .count(1, isCertain)
    }
  }

  private func remove(_ context: WorkContext, _ isCertain: Bool) {
    let gone = waits.withLock { state -> WaitingContext? in
      let id = ObjectIdentifier(context)
      state.waiting[id]?.count(-1, isCertain)
      return state.waiting[id]?.isOver ?? false ? state.waiting.removeValue(forKey: id) : nil
    }
    _ = gone  // released here, not under the lock
  }

  /// The work that waits for this flight, and whether that is certain.
  private var waitingContexts: [(context: WorkContext, isCertain: Bool)] {
    waits.withLock { $0.waiting.values.map { ($0.context, $0.certain > 0) } }
  }

  /// Notes that the flight's work wants a slot of a limit, or has one.
  private func wants(_ limit: ObjectIdentifier) {
    waits.withLock { $0.wantedLimits[limit, default: 0] += 1 }
  }

  private func wantsNoMore(_ limit: ObjectIdentifier) {
    waits.withLock { state in
      state.wantedLimits[limit, default: 0] -= 1
      if state.wantedLimits[limit] == 0 { state.wantedLimits[limit] = nil }
    }
  }

  /// The limits of which this flight, and those it waits for, want slots.
  private var wantedLimits: Set<ObjectIdentifier> {
    followedFlights.reduce(into: []) { limits, flight in
      limits.formUnion(flight.waits.withLock { Array($0.wantedLimits.keys) })
    }
  }
}

/// The waits that one flight knows of.
private struct Waits: Sendable {
  /// The flights that its work waits for.
  var waitsFor: [ObjectIdentifier: (flight: WorkContext, times: Int)] = [:]

  /// The work that waits for it.
  var waiting: [ObjectIdentifier: WaitingContext] = [:]

  /// The limits of which its work wants slots, or has some.
  var wantedLimits: [ObjectIdentifier: Int] = [:]
}

/// How often a piece of work waits for a flight.
private struct WaitingContext: Sendable {
  let context: WorkContext
  var certain = 0
  var doubtful = 0

  var isOver: Bool { certain == 0 && doubtful == 0 }

  mutating func count(_ change: Int, _ isCertain: Bool) {
    if isCertain { certain += change } else { doubtful += change }
  }
}
