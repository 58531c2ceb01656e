public import MillpondSignals

/// What the asking code itself works for: a flight, or in a slot that it holds.
///
/// It is a task-local value, so it reaches what is asked inside a start and in tasks that are made
/// there; an ask that comes by another way, as from a callback of a queue, has none.
///
/// It is there so that nobody waits for himself: a flight whose work asks for its own key would
/// never end, nor would work that holds the last slot and asks for one more.
@usableFromInline
final class WorkContext: Sendable {
  @TaskLocal private static var asking: WorkContext?

  private let flight: FlightHandle?
  private let slot: HeldSlot?
  private let outer: WorkContext?

  /// How many asks the holder of the slot waits for.
  private let waits = Locked(0)

  private init(flight: FlightHandle? = nil, slot: HeldSlot? = nil, outer: WorkContext? = nil) {
    self.flight = flight
    self.slot = slot
    self.outer = outer
  }

  /// What the asking code works for.
  @usableFromInline
  static var current: WorkContext? {
    asking
  }

  /// The context of a flight's work.
  ///
  /// A flight serves many, so what started it is not its concern.
  @usableFromInline
  static func work(for flight: FlightHandle) -> WorkContext {
    WorkContext(flight: flight)
  }

  /// The context of the preparation of a write, within that of the caller.
  static func work(for write: FlightHandle, within outer: WorkContext?) -> WorkContext {
    WorkContext(flight: write, outer: outer)
  }

  /// The context of work that has a slot, within another.
  static func work(in slot: HeldSlot, within outer: WorkContext?) -> WorkContext {
    WorkContext(slot: slot, outer: outer)
  }

  /// Runs `body` in the given context, or in none.
  @usableFromInline
  static func run(in context: WorkContext?, _ body: () -> Void) {
    if context === asking { body() } else { $asking.withValue(context, operation: body) }
  }

  /// Waits for a flight until `lifetime` ends; false if that would be for ever.
  ///
  /// Meanwhile the slots that are held for this work are lent to others.
  @usableFromInline
  func wait(for other: FlightHandle, until lifetime: Lifetime) -> Bool {
    for flight in chain.lazy.compactMap({ $0.flight }) {
      guard flight.waits(for: other) else { return false }
      lifetime.onEnd { flight.waitsNoMore(for: other) }
    }
    for context in chain where context.slot != nil { context.lend(until: lifetime) }
    return true
  }

  /// Waits for one of the slots until `lifetime` ends; one that is held already is lent meanwhile.
  func wait(for slots: ObjectIdentifier, until lifetime: Lifetime) {
    chain.first { $0.slot?.owner == slots }?.lend(until: lifetime)
  }

  private var chain: some Sequence<WorkContext> {
    sequence(first: self, next: { $0.outer })
  }

  private func lend(until lifetime: Lifetime) {
    if waits.withLock({ Self.count(1, &$0) == 1 }) { slot?.lend() }
    lifetime.onEnd {
      if self.waits.withLock({ Self.count(-1, &$0) == 0 }) { self.slot?.takeBack() }
    }
  }

  private static func count(_ change: Int, _ waits: inout Int) -> Int {
    waits += change
    return waits
  }
}

/// A slot that work holds, which others may have while the work waits for them.
struct HeldSlot: Sendable {
  /// Whose it is.
  let owner: ObjectIdentifier
  let lend: @Sendable () -> Void
  let takeBack: @Sendable () -> Void
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
