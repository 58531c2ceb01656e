public import MillpondCore
import MillpondSignals

/// The writes of a transaction so far, which only the writer sees.
@usableFromInline
struct Transaction {
  /// The parts of all types that were ever written.
  @usableFromInline var parts: [TransactionPart] = []
  @usableFromInline var numbers = TypeNumbers()

  /// The parts of the next commit, in the order in which the transaction reached them, and the
  /// parts of this turn's former commits.
  @usableFromInline var touched: [TransactionPart] = []
  @usableFromInline var spent: [TransactionPart] = []

  /// The age for pruning at the end of the transaction; nil for no pruning.
  @usableFromInline var pruning: Duration?

  /// The revision of the optimistic write that is being made; none outside of one.
  @usableFromInline var optimistic = Revision.none

  /// The requests that confirm optimistic writes, to be started after the commit.
  @usableFromInline var requests: [Notice] = []

  /// The depth of inner transactions, whose writes can be undone.
  @usableFromInline var depth = 0

  /// The revision of a removal of everything, which refuses fills requested before it; and whether
  /// observers are not notified of it.
  @usableFromInline var clearedAt = Revision.none
  @usableFromInline var isSilent = false

  @usableFromInline
  init() {}

  @inlinable
  var isEmpty: Bool {
    touched.isEmpty && pruning == nil && clearedAt == .none && requests.isEmpty
  }

  @inlinable
  var canUndo: Bool {
    depth > 0
  }

  /// The order of a write that is made now.
  @inlinable
  var order: EditOrder {
    optimistic == .none ? .now : .optimistic(optimistic)
  }

  /// Returns the part of a type, if it was ever written.
  @inlinable
  func part<E: Entity>(of _: E.Type) -> TransactionPart? {
    numbers.number(of: ObjectIdentifier(E.self)).map { parts[$0] }
  }

  @inlinable
  func edits<E: Entity>(of type: E.Type) -> EntityEdits<E>? {
    part(of: type)?.edits(of: type)
  }

  @inlinable
  mutating func add<E>(_ edits: EntityEdits<E>) -> TransactionPart {
    numbers.add(ObjectIdentifier(E.self))
    parts.append(TransactionPart(edits))
    return parts[parts.count - 1]
  }

  /// Records that a part is about to be written.
  @inlinable
  mutating func touch(_ part: TransactionPart) {
    if part.isTouched { return }
    part.isTouched = true
    touched.append(part)
  }

  @usableFromInline
  mutating func clearAll(isSilent: Bool) {
    clearedAt = .next()
    self.isSilent = isSilent
  }

  // MARK: Undoing

  /// The state of a transaction for a rollback, with the number of undo records of each part and
  /// that of the requests to be started.
  @usableFromInline typealias Savepoint = (
    undoCounts: [Int], pruning: Duration?, requestCount: Int
  )

  /// The present state.
  @usableFromInline
  var savepoint: Savepoint {
    (parts.map { $0.undoCount() }, pruning, requests.count)
  }

  /// Undoes the writes since the savepoint, and returns objects to release afterwards.
  @usableFromInline
  mutating func rollBack(to savepoint: Savepoint) -> [any Sendable] {
    pruning = savepoint.pruning
    let counts = savepoint.undoCounts
    let undone = Array(requests[savepoint.requestCount...])
    requests.removeLast(undone.count)
    return [undone]
      + parts.enumerated().map { number, part in
        part.undo(number < counts.count ? counts[number] : 0)
      }
  }

  // MARK: Ending

  /// Takes the writes for a commit, so that later writes belong to another one.
  ///
  /// - Parameter released: Collects the remains of earlier commits of this turn in the same parts.
  mutating func takeWritten(_ released: inout [any Sendable]) -> WrittenParts {
    let start = spent.count
    for part in touched {
      part.isTouched = false
      if let former = part.finish() { released.append(former) }
      spent.append(part)
    }
    touched.removeAll(keepingCapacity: true)
    defer { (clearedAt, isSilent, pruning, requests) = (.none, false, nil, []) }
    return WrittenParts(
      places: start..<spent.count, isCleared: clearedAt != .none, isSilent: isSilent,
      pruning: pruning, requests: requests)
  }

  /// Discards all writes.
  @usableFromInline
  mutating func discard(_ released: inout [any Sendable]) {
    let requests = takeWritten(&released).requests
    if !requests.isEmpty { released.append(requests) }
  }

  /// Takes the objects to release after the turn.
  @usableFromInline
  mutating func takeSpent(_ released: inout [any Sendable]) {
    for part in spent {
      if let left = part.takeSpent() { released.append(left) }
    }
    spent.removeAll(keepingCapacity: true)
  }
}

/// The parts of one commit.
struct WrittenParts {
  /// The range of the parts in `spent`.
  let places: Range<Int>
  let isCleared: Bool
  let isSilent: Bool
  let pruning: Duration?
  let requests: [Notice]
}

/// The part of a transaction that concerns one type.
///
/// It consists of closures that are made where the type is known. Through a protocol, each commit
/// would look up all generic code by metadata, which takes twenty times as long.
@usableFromInline
final class TransactionPart {
  /// Whether the next commit concerns it.
  @usableFromInline var isTouched = false
  @usableFromInline let edits: AnyObject
  @usableFromInline let undoCount: () -> Int
  @usableFromInline let undo: (_ count: Int) -> any Sendable

  /// Removes all stored entities, and all that were written so far.
  @usableFromInline let removeAll: (EditOrder, _ canUndo: Bool) -> Void

  /// Hands the edits over for a commit, and returns the remains of an earlier commit of this turn.
  @usableFromInline let finish: () -> (any Sendable)?

  /// Compares the edits with the stored values, and reads relations; runs users' code.
  @usableFromInline let prepare: (_ readsAgain: Bool) -> Void

  /// Applies the prepared edits, under the lock.
  @usableFromInline let apply: (inout EntityTables, inout Commit) -> Void

  /// Returns references to the changed entities, in the order of the edits.
  @usableFromInline let causes: () -> [AnyReference]

  /// Confirms or undoes an optimistic write; first calls `touch` if it concerns the type.
  @usableFromInline let settle: (Revision, _ isConfirmed: Bool, _ touch: () -> Void) -> Void

  /// Takes the objects to release after the turn.
  @usableFromInline let takeSpent: () -> (any Sendable)?

  @inlinable
  init<E>(_ edits: EntityEdits<E>) {
    self.edits = edits
    undoCount = { edits.undone.count }
    undo = { edits.undo(to: $0) }
    removeAll = { edits.removeAll($0, canUndo: $1) }
    finish = { edits.finish().ifAny }
    prepare = { edits.prepare(readsAgain: $0) }
    apply = { edits.apply(to: &$0, &$1) }
    causes = { edits.causes }
    settle = { edits.settle($0, isConfirmed: $1, touch: $2) }
    takeSpent = { edits.takeSpent().ifAny }
  }

  /// Returns the edits, which are of this type.
  @inlinable
  func edits<E: Entity>(of _: E.Type) -> EntityEdits<E> {
    unsafeDowncast(edits, to: EntityEdits<E>.self)
  }
}
