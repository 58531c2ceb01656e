public import MillpondSignals
import Synchronization

/// The work to which the calling code belongs: a flight, the preparation of a write, or a get that
/// holds a slot of a limit.
///
/// It is a task-local value, so it reaches the gets inside a start and in tasks created there. A
/// call by another way, such as a callback on a queue, has no context.
///
/// It prevents work from waiting for itself: a flight whose work gets its own key would never end,
/// nor would work that holds the last slot and needs one more.
@usableFromInline
package class WorkContext: @unchecked Sendable {
  // Sendable because what this class and its subclasses hold is immutable, atomic or locked.

  // Not an optional: the runtime would copy that piece by piece each time.
  @TaskLocal private static var calling = outermost

  /// The value that means no context; it is over, like a flight that has ended.
  private static let outermost = {
    let none = WorkContext()
    none.end()
    return none
  }()

  private final let over = AtomicValue<Bool>(false)

  /// The waits of and for a flight, created when the first is recorded.
  final let lazyWaits = LazyObject()

  /// The flight whose work this is.
  var flight: WorkContext? { nil }

  /// The limit of which the work holds a slot.
  var heldLimit: ObjectIdentifier? { nil }

  /// The context around this one, until the work ends.
  var outer: WorkContext? { nil }

  init() {}

  /// Returns the context of work for which any number of callers wait, as for a flight.
  package static func ofSharedWork() -> WorkContext { NestedContext(isFlight: true, within: nil) }

  /// Whether this is a flight of `key` in `table`; only some flights know.
  func isFlight(of key: some Hashable & Sendable, in table: ObjectIdentifier) -> Bool {
    false
  }

  /// Records that the holder of a slot waits for one more get of the same limit.
  func lendSlot(isCertain: Bool) {}

  /// Records that the holder of a slot waits for one get less.
  func takeSlotBack(isCertain: Bool) {}

  /// Records that the flight has ended, and no caller waits for its work.
  @usableFromInline
  package final func end() {
    over.store(true, ordering: .relaxed)
  }

  /// Whether the flight has ended.
  @usableFromInline
  package final var isOver: Bool {
    over.load(ordering: .relaxed)
  }

  /// The context of the calling code; nil also for what a flight that has ended has left running.
  @usableFromInline
  package static var current: WorkContext? {
    let calling = calling
    return calling.isOver ? nil : calling
  }

  /// Runs `body` in the given context, or in none if it is nil.
  ///
  /// The context of a flight that has ended is none, and need not be changed.
  @usableFromInline
  package static func run(in context: WorkContext?, _ body: () -> Void) {
    let calling = calling
    guard let context else {
      return calling.isOver ? body() : $calling.withValue(outermost, operation: body)
    }
    if context === calling { body() } else { $calling.withValue(context, operation: body) }
  }

  /// Runs `body` in a context in which no code has run yet.
  @usableFromInline
  static func run(inNew context: WorkContext, _ body: () -> Void) {
    $calling.withValue(context, operation: body)
  }
}

/// The context of work within other work: the preparation of a write, or a get that holds a slot.
class NestedContext: WorkContext, @unchecked Sendable {
  private let isOwnFlight: Bool

  /// The context of the caller, until the work ends.
  ///
  /// A task that outlives the work works for no caller, and must not keep the contexts of earlier
  /// work alive.
  @exclusivity(unchecked) private var around: WorkContext?
  private let gate = Gate()

  /// Creates the context of work within that of the caller.
  ///
  /// - Parameters:
  ///   - isFlight: Whether gets wait for the work, as for a flight.
  ///   - outer: The context of the caller.
  init(isFlight: Bool = false, within outer: WorkContext?) {
    isOwnFlight = isFlight
    around = outer
  }

  override final var flight: WorkContext? { isOwnFlight ? self : nil }

  override final var outer: WorkContext? {
    gate.withLock { around }
  }

  /// Leaves the caller's context at the end of work in a slot; gets of its remaining tasks then
  /// have no caller.
  final func leaveOuter() {
    let former = gate.withLock { exchange(&around, with: nil) }
    withExtendedLifetime(former) {}  // released here, not under the lock
  }
}

extension Observer {
  /// Delivers in the caller's context instead of the context of the work that answers.
  @inlinable
  func inContext(of caller: WorkContext?) -> Observer {
    Observer(next: { value in WorkContext.run(in: caller) { self.next(value) } }) { event in
      WorkContext.run(in: caller) { self.other(event) }
    }
  }

  /// Does the same, and ends a run before it delivers the end.
  @inlinable
  func inContext(of caller: WorkContext?, ending run: Lifetime) -> Observer {
    Observer(next: { value in WorkContext.run(in: caller) { self.next(value) } }) { event in
      if event.isTerminal { run.end() }
      WorkContext.run(in: caller) { self.other(event) }
    }
  }
}

extension Signal {
  /// Runs the subscription in the caller's context, even if a timer's thread or another layer's
  /// answer starts it.
  ///
  /// Without it, a get that is repeated after a pause would lose its context, and wait for the slot
  /// that it holds itself.
  @inlinable
  func inContext(of caller: WorkContext?) -> Signal {
    Signal { observer, lifetime in
      WorkContext.run(in: caller) { run(observer, lifetime) }
    }
  }

  /// Makes the signal anew for each subscription, with the caller's context.
  @inlinable
  static func withCaller(_ make: @escaping @Sendable (WorkContext?) -> Signal) -> Signal {
    .deferred { make(WorkContext.current) }
  }
}
