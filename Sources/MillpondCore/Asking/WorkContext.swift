public import MillpondSignals

/// What the calling code itself works for: a flight, or a get that holds a slot of a limit.
///
/// It is a task-local value, so it reaches what is asked inside a start and in tasks that are made
/// there. A call that comes by another way, as from a callback of a queue, has none.
///
/// It is there so that no work waits for itself: a flight whose work asks for its own key would
/// never end, nor would work that holds the last slot and asks for one more.
@usableFromInline
package class WorkContext: @unchecked Sendable {
  // Sendable because what its subclasses hold is immutable, atomic or locked.

  // Not an optional: the runtime would copy that piece by piece each time.
  @TaskLocal private static var calling = nobody

  /// Stands for no context.
  private static let nobody = WorkContext()

  /// The flight of which this is the work.
  var ownFlight: FlightHandle? { nil }

  /// The slot that the work holds.
  var slot: HeldSlot? { nil }

  /// The context around this one, until the work ends.
  var outer: WorkContext? { nil }

  init() {}

  /// What the calling code works for.
  @usableFromInline
  static var current: WorkContext? {
    let calling = calling
    return calling === nobody ? nil : calling
  }

  /// The context of the preparation of a write, within that of the caller.
  static func work(for write: FlightHandle, within outer: WorkContext?) -> NestedContext {
    NestedContext(flight: write, outer: outer)
  }

  /// The context of work that has a slot, within another.
  static func work(in slot: HeldSlot, within outer: WorkContext?) -> NestedContext {
    NestedContext(slot: slot, outer: outer)
  }

  /// Runs `body` in the given context, or in none.
  @usableFromInline
  static func run(in context: WorkContext?, _ body: () -> Void) {
    let context = context ?? nobody
    if context === calling { body() } else { $calling.withValue(context, operation: body) }
  }

  /// Runs `body` in a context that nothing has run in yet.
  @usableFromInline
  static func run(inNew context: WorkContext, _ body: () -> Void) {
    $calling.withValue(context, operation: body)
  }
}

/// The context of work within other work: of a write that is prepared, or of a get that has a slot.
final class NestedContext: WorkContext, @unchecked Sendable {
  private let flight: FlightHandle?
  private let held: HeldSlot?

  /// The context of the caller, until the work ends.
  ///
  /// A task that goes on after the end works for nobody, and would keep the contexts of all work
  /// before it.
  private let around: Locked<WorkContext?>

  fileprivate init(flight: FlightHandle? = nil, slot: HeldSlot? = nil, outer: WorkContext?) {
    self.flight = flight
    held = slot
    around = Locked(outer)
  }

  override var ownFlight: FlightHandle? { flight }

  override var slot: HeldSlot? { held }

  override var outer: WorkContext? {
    around.withLock { $0 }
  }

  /// Ends the work that has a slot: what its tasks ask for from now on is asked for nobody.
  func end() {
    let former = around.withLock { outer in
      defer { outer = nil }
      return outer
    }
    _ = former  // released here, not under the lock
  }
}

extension WorkContext {
  /// Waits for a flight until `lifetime` ends; false if that would be for ever.
  ///
  /// Where the flight itself wants slots, those that are held by the work that waits are lent.
  @usableFromInline
  func wait(for other: FlightHandle, until lifetime: Lifetime) -> Bool {
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
  func wait(for slots: Slots, until lifetime: Lifetime) {
    let limit = ObjectIdentifier(slots)
    if let flight {
      flight.wants(limit)
      lifetime.onEnd { flight.wantsNoMore(limit) }
    }
    lendSlots(of: { $0 == limit }, lifetime.isAwaited, until: lifetime)
  }

  /// Whether this is work for a flight of `key` in `table`, or for one that such a flight waits for.
  func works<Key: Hashable & Sendable>(for key: Key, in table: ObjectIdentifier) -> Bool {
    reach(isCertain: true).contains { $0.context.flight?.isFlight(of: key, in: table) ?? false }
  }

  private func lendSlots(
    of isWanted: (ObjectIdentifier) -> Bool, _ isCertain: Bool, until lifetime: Lifetime
  ) {
    for (context, isCertain) in reach(isCertain: isCertain) {
      guard let slot = context.slot, isWanted(ObjectIdentifier(slot.slots)) else { continue }
      slot.wait(isCertain: isCertain)
      lifetime.onEnd { slot.waitNoMore(isCertain: isCertain) }
    }
  }

  /// The innermost flight of which this is the work, unless that has ended.
  private var flight: FlightHandle? {
    flights.first
  }

  /// The flights of which this is the work, the innermost first, without those that have ended: several
  /// where a write is prepared within one.
  private var flights: [FlightHandle] {
    var flights: [FlightHandle] = []
    var next: WorkContext? = self
    while let context = next {
      if let flight = context.ownFlight, !flight.isOver { flights.append(flight) }
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
      guard let flight = context.ownFlight, !flight.isOver else { continue }
      for waiting in flight.waitingContexts { add(waiting.context, isCertain && waiting.isCertain) }
    }
    return all
  }
}

extension Observer {
  /// Delivers in the context of whoever asked, not in that of the work that answers.
  @inlinable
  func inContext(of asker: WorkContext?) -> Observer {
    Observer(next: { value in WorkContext.run(in: asker) { self.next(value) } }) { event in
      WorkContext.run(in: asker) { self.other(event) }
    }
  }
}
