public import MillpondCore
import MillpondSignals

/// The writes of a transaction so far, which only the writer sees.
@usableFromInline
struct Transaction: Sendable {
  /// The edits of each type, in the order in which the transaction reached them.
  @usableFromInline var edits: [AnyEntityEdits] = []

  /// The age for pruning at the end of the transaction; nil for no pruning.
  @usableFromInline var pruning: Duration?

  /// The revision of the optimistic write that is being made; none outside of one.
  @usableFromInline var optimistic = Revision.none

  /// The requests that confirm optimistic writes, to be started after the commit.
  @usableFromInline var requests: [Notice] = []

  /// The depth of inner transactions, whose writes can be undone; and what undoes each, and returns
  /// objects to release afterwards.
  @usableFromInline var depth = 0
  @usableFromInline var undone: [@Sendable () -> any Sendable] = []

  /// The revision of a removal of everything, which refuses fills requested before it; and whether
  /// observers are not notified of it.
  @usableFromInline var clearedAt = Revision.none
  @usableFromInline var isSilent = false

  @inlinable
  var isEmpty: Bool {
    edits.isEmpty && pruning == nil && clearedAt == .none && requests.isEmpty
  }

  /// The order of a write that is made now.
  @inlinable
  var order: EditOrder {
    optimistic == .none ? .now : .optimistic(optimistic)
  }

  /// Returns the edits of a type, if it was written.
  @inlinable
  func edits<E: Entity>(of _: E.Type) -> EntityEdits<E>? {
    for place in edits.indices where edits[place].type == ObjectIdentifier(E.self) {
      return unsafeDowncast(edits[place].edits, to: EntityEdits<E>.self)
    }
    return nil
  }

  // MARK: Undoing

  /// The state of a transaction for a rollback.
  @usableFromInline typealias Savepoint = (undoCount: Int, pruning: Duration?, requestCount: Int)

  /// The present state.
  @usableFromInline
  var savepoint: Savepoint {
    (undone.count, pruning, requests.count)
  }

  /// Undoes the writes since the savepoint, and returns objects to release afterwards.
  @usableFromInline
  mutating func rollBack(to savepoint: Savepoint) -> [any Sendable] {
    pruning = savepoint.pruning
    var gone: [any Sendable] = [Array(requests[savepoint.requestCount...])]
    requests.removeLast(requests.count - savepoint.requestCount)
    while undone.count > savepoint.undoCount { gone.append(undone.removeLast()()) }
    return gone
  }
}

/// The edits of a type, with the table that knows the type.
@usableFromInline
typealias AnyEntityEdits = (
  type: ObjectIdentifier, table: AnyEntityTable, edits: any AnyObject & Sendable
)
