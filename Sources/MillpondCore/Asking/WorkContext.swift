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
  private let slots: Slots?
  private let outer: WorkContext?

  /// How many asks the holder of the slot waits for.
  private let waits = Locked(0)

  private init(flight: FlightHandle? = nil, slots: Slots? = nil, outer: WorkContext? = nil) {
    self.flight = flight
    self.slots = slots
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

  /// The context of work that has a slot, within another.
  static func work(in slots: Slots, within outer: WorkContext?) -> WorkContext {
    WorkContext(slots: slots, outer: outer)
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
    if let flight = chain.lazy.compactMap({ $0.flight }).first {
      guard flight.waits(for: other) else { return false }
      lifetime.onEnd { flight.waitsNoMore(for: other) }
    }
    for context in chain where context.slots != nil { context.lend(until: lifetime) }
    return true
  }

  /// Waits for one of the slots until `lifetime` ends; one that is held already is lent meanwhile.
  func wait(for slots: Slots, until lifetime: Lifetime) {
    chain.first { $0.slots === slots }?.lend(until: lifetime)
  }

  private var chain: some Sequence<WorkContext> {
    sequence(first: self, next: { $0.outer })
  }

  private func lend(until lifetime: Lifetime) {
    if waits.withLock({ Self.count(1, &$0) == 1 }) { slots?.lend() }
    lifetime.onEnd {
      if self.waits.withLock({ Self.count(-1, &$0) == 0 }) { self.slots?.takeBack() }
    }
  }

  private static func count(_ change: Int, _ waits: inout Int) -> Int {
    waits += change
    return waits
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
