public import MillpondCore
import MillpondSignals

/// What a transaction has written so far: nobody sees it but the writer.
@usableFromInline
struct Transaction {
  /// One for each type that was ever written to.
  @usableFromInline var parts: [TransactionPart] = []
  @usableFromInline var numbers = TypeNumbers()

  /// The parts that the next commit is about, in the order in which the transaction came to them; and
  /// those that commits of this turn were about.
  @usableFromInline var touched: [TransactionPart] = []
  @usableFromInline var spent: [TransactionPart] = []

  /// Whether something is to be pruned when the transaction is over.
  @usableFromInline var pruning: Duration?

  /// How many transactions are within one another; in the inner ones, writes can be undone.
  @usableFromInline var depth = 0

  /// Whether all was removed, which makes come too late what sources were asked for before; and
  /// whether observers are not told of it.
  @usableFromInline var clearedAt = Revision.none
  @usableFromInline var isSilent = false

  @usableFromInline
  init() {}

  @inlinable
  var isEmpty: Bool {
    touched.isEmpty && pruning == nil && clearedAt == .none
  }

  @inlinable
  var canUndo: Bool {
    depth > 0
  }

  /// The part of a type, if it was ever written to.
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

  /// Notes that something is about to be written to a part.
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

  // MARK: Taking back

  /// How much there is to be undone by now.
  @usableFromInline
  var savepoint: Savepoint {
    Savepoint(undoCounts: parts.map { $0.undoCount() }, pruning: pruning)
  }

  /// Takes back what was written since; gives what is to be released when that is done.
  @usableFromInline
  mutating func rollBack(to savepoint: Savepoint) -> [any Sendable] {
    pruning = savepoint.pruning
    let counts = savepoint.undoCounts
    return parts.enumerated().map { number, part in
      part.undo(number < counts.count ? counts[number] : 0)
    }
  }

  // MARK: Ending

  /// Takes what is to be committed, so that what is written from now on is for another commit.
  ///
  /// - Parameter released: Gets what earlier commits of this turn have left of the same parts.
  mutating func takeWritten(_ released: inout [any Sendable]) -> WrittenParts {
    let start = spent.count
    for part in touched {
      part.isTouched = false
      if let former = part.finish() { released.append(former) }
      spent.append(part)
    }
    touched.removeAll(keepingCapacity: true)
    defer { (clearedAt, isSilent, pruning) = (.none, false, nil) }
    return WrittenParts(
      places: start..<spent.count, isCleared: clearedAt != .none, isSilent: isSilent,
      pruning: pruning)
  }

  /// Gives up all that was written.
  @usableFromInline
  mutating func discard(_ released: inout [any Sendable]) {
    _ = takeWritten(&released)
  }

  /// Takes what is to be released when the turn is over.
  @usableFromInline
  mutating func takeSpent(_ released: inout [any Sendable]) {
    for part in spent {
      if let left = part.takeSpent() { released.append(left) }
    }
    spent.removeAll(keepingCapacity: true)
  }
}

/// What one commit is about.
struct WrittenParts {
  /// Where the parts are among those that are spent.
  let places: Range<Int>
  let isCleared: Bool
  let isSilent: Bool
  let pruning: Duration?
}

/// The state of a transaction at the start of an inner one, to which a failure takes it back.
@usableFromInline
struct Savepoint {
  /// How many writes each part can undo.
  @usableFromInline let undoCounts: [Int]
  @usableFromInline let pruning: Duration?
}

/// The part of a transaction that is about one type.
///
/// Closures, made where the type is known: through a protocol, everything that is generic would be
/// looked up by metadata at each commit, which takes twenty times as long.
@usableFromInline
final class TransactionPart {
  /// Whether the next commit is about it.
  @usableFromInline var isTouched = false
  @usableFromInline let edits: AnyObject
  @usableFromInline let undoCount: () -> Int
  @usableFromInline let undo: (_ count: Int) -> any Sendable

  /// Removes all that is stored, and all that was written so far.
  @usableFromInline let removeAll: (_ canUndo: Bool) -> Void

  /// Lets what was written be committed; gives what is left of an earlier commit of this turn.
  @usableFromInline let finish: () -> (any Sendable)?

  /// Compares with what is stored, and reads the relations of what changes: this runs users' code.
  @usableFromInline let prepare: (_ readsAgain: Bool) -> Void

  /// Carries it out, under the lock.
  @usableFromInline let apply: (inout EntityTables, inout Commit) -> Void

  /// References to what has changed, in the order in which it was applied.
  @usableFromInline let causes: () -> [AnyReference]

  /// Takes what is to be released when the turn is over.
  @usableFromInline let takeSpent: () -> (any Sendable)?

  @inlinable
  init<E>(_ edits: EntityEdits<E>) {
    self.edits = edits
    undoCount = { edits.undone.count }
    undo = { edits.undo(to: $0) }
    removeAll = { edits.removeAll(canUndo: $0) }
    finish = { edits.finish().ifAny }
    prepare = { edits.prepare(readsAgain: $0) }
    apply = { edits.apply(to: &$0, &$1) }
    causes = { edits.causes }
    takeSpent = { edits.takeSpent().ifAny }
  }

  /// The edits, which are of this type.
  @inlinable
  func edits<E: Entity>(of _: E.Type) -> EntityEdits<E> {
    unsafeDowncast(edits, to: EntityEdits<E>.self)
  }
}
