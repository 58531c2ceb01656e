public import MillpondSignals
import Synchronization

/// The work that the calling code belongs to: a flight, the preparation of a write, or a get that holds
/// a slot of a limit.
///
/// It is a task-local value, so it reaches what is asked inside a start and in tasks that are made
/// there. A call that comes by another way, as from a callback of a queue, has none.
///
/// It is there so that no work waits for itself: a flight whose work asks for its own key would
/// never end, nor would work that holds the last slot and asks for one more.
@usableFromInline
package class WorkContext: @unchecked Sendable {
  // Sendable because what this class and its subclasses hold is immutable, atomic or locked.

  // Not an optional: the runtime would copy that piece by piece each time.
  @TaskLocal private static var calling = nobody

  /// Stands for no context.
  private static let nobody = WorkContext()

  private final let over = Atomic<Bool>(false)

  /// The waits of and for a flight, made when the first is noted.
  final let lazyWaits = LazyObject()

  /// The flight of which this is the work.
  var flight: WorkContext? { nil }

  /// The limit of which the work holds a slot.
  var heldLimit: ObjectIdentifier? { nil }

  /// The context around this one, until the work ends.
  var outer: WorkContext? { nil }

  init() {}

  /// Whether this is a flight of `key` in `table`; only some flights know.
  func isFlight(of key: some Hashable & Sendable, in table: ObjectIdentifier) -> Bool {
    false
  }

  /// Notes that the holder of a slot waits for one more get of the same limit.
  func lendSlot(isCertain: Bool) {}

  /// Notes that the holder of a slot waits for one get less.
  func takeSlotBack(isCertain: Bool) {}

  /// Notes that the flight has ended: nobody waits for its work any more.
  @usableFromInline
  package final func end() {
    over.store(true, ordering: .relaxed)
  }

  /// Whether the flight has ended.
  @usableFromInline
  package final var isOver: Bool {
    over.load(ordering: .relaxed)
  }

  /// The context of the calling code.
  @usableFromInline
  static var current: WorkContext? {
    let calling = calling
    return calling === nobody ? nil : calling
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
class NestedContext: WorkContext, @unchecked Sendable {
  private let ownFlight: WorkContext?

  /// The context of the caller, until the work ends.
  ///
  /// A task that goes on after the end works for nobody, and would keep the contexts of all work
  /// before it.
  private let around: Locked<WorkContext?>

  /// The context of the work for `flight`, or of work that is no flight, within `outer`.
  init(for flight: WorkContext? = nil, within outer: WorkContext?) {
    ownFlight = flight
    around = Locked(outer)
  }

  override final var flight: WorkContext? { ownFlight }

  override final var outer: WorkContext? {
    around.withLock { $0 }
  }

  /// Ends the work that has a slot: what its tasks ask for from now on is asked for nobody.
  final func leaveOuter() {
    let former = around.withLock { outer in
      defer { outer = nil }
      return outer
    }
    _ = former  // released here, not under the lock
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
