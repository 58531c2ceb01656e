public import MillpondCore
import MillpondSignals

/// What a transaction has written so far: nobody sees it but the writer.
@usableFromInline
struct EntityDraft {
  @usableFromInline var parts: [DraftPart] = []
  @usableFromInline var places: [ObjectIdentifier: Int] = [:]

  /// Whether something is to be pruned when the transaction is over.
  @usableFromInline var pruning: Duration?

  /// How many transactions are within one another; in the inner ones, writes can be undone.
  @usableFromInline var depth = 0

  /// Whether all was removed, which makes come too late what sources were asked for before; and
  /// whether observers are not told of it.
  @usableFromInline var clearedAt = Revision.none
  @usableFromInline var isSilent = false

  @inlinable
  init() {}

  @inlinable
  var isEmpty: Bool {
    parts.isEmpty && pruning == nil && clearedAt == .none
  }

  /// What was written to `id`; nil if nothing was.
  @inlinable
  func edit<E: Entity>(of id: E.ID, _: E.Type) -> DraftEdit<E>? {
    part(E.self)?.edit(of: id)
  }

  @inlinable
  mutating func clearAll(isSilent: Bool) {
    clearedAt = .next()
    self.isSilent = isSilent
  }

  /// How much there is to be undone by now.
  @inlinable
  var savepoint: Savepoint {
    Savepoint(undoCounts: parts.map { $0.undoCount() }, pruning: pruning)
  }

  /// Takes back what was written since; gives what is to be released when that is done.
  @inlinable
  mutating func rollBack(to savepoint: Savepoint) -> [any Sendable] {
    pruning = savepoint.pruning
    let counts = savepoint.undoCounts
    return parts.enumerated().map { number, part in
      part.undo(number < counts.count ? counts[number] : 0)
    }
  }

  @inlinable
  func part<E: Entity>(_: E.Type) -> DraftTable<E>? {
    places[ObjectIdentifier(E.self)].map {
      unsafeDowncast(parts[$0].table, to: DraftTable<E>.self)
    }
  }

  /// The part of a type, which is made if there is none.
  @inlinable
  mutating func part<E: Entity>(adding _: E.Type) -> DraftTable<E> {
    if let part = part(E.self) { return part }
    let part = DraftTable<E>()
    places[ObjectIdentifier(E.self)] = parts.count
    parts.append(DraftPart(part))
    return part
  }
}

/// The state of a draft at the start of an inner transaction, to which a failure takes it back.
@usableFromInline
struct Savepoint {
  /// How many writes each part can undo.
  @usableFromInline let undoCounts: [Int]
  @usableFromInline let pruning: Duration?

  @inlinable
  init(undoCounts: [Int], pruning: Duration?) {
    self.undoCounts = undoCounts
    self.pruning = pruning
  }
}

/// What is to become of one entity.
@usableFromInline
struct DraftEdit<E: Entity>: Sendable {
  @usableFromInline let id: E.ID

  /// What it is to be; nil removes it.
  @usableFromInline var value: E?
  @usableFromInline let place: EditPlace

  @inlinable
  init(id: E.ID, value: E?, place: EditPlace) {
    self.id = id
    self.value = value
    self.place = place
  }
}

/// The place of an edit in the order of writes.
@usableFromInline
enum EditPlace: Sendable {
  /// No write: a source has brought it.
  case fill

  /// That of the commit; within the transaction it comes after all that was drawn by then.
  case commit(after: Revision)

  /// Its own, which was drawn before it came to the store.
  case drawn(Revision)

  /// That of what is written now.
  @inlinable
  static var now: EditPlace {
    .commit(after: .present)
  }

  @inlinable
  var isFill: Bool {
    if case .fill = self { true } else { false }
  }

  /// No write that comes before it within the transaction is later.
  @inlinable
  var revision: Revision {
    switch self {
    case .fill: .none
    case .commit(let revision), .drawn(let revision): revision
    }
  }
}

/// The part of a draft that is about one type.
///
/// Closures, made where the type is known: through a protocol, everything that is generic would be
/// looked up by metadata at each commit, which takes twenty times as long.
@usableFromInline
struct DraftPart {
  @usableFromInline let table: AnyObject
  @usableFromInline let undoCount: () -> Int
  @usableFromInline let undo: (_ count: Int) -> any Sendable

  /// Removes all that was written so far.
  @usableFromInline let clear: (_ canUndo: Bool) -> Void

  /// Compares with what is stored, and reads the relations of what changes: the part that runs users'
  /// code.
  @usableFromInline let prepare: (EntityCore) -> Void

  /// Carries it out, under the lock.
  @usableFromInline let apply: (inout EntityShelves, inout Commit) -> Void

  @inlinable
  init<E>(_ table: DraftTable<E>) {
    self.table = table
    undoCount = { table.undoCount }
    undo = { table.undo(to: $0) }
    clear = { table.clear(canUndo: $0) }
    prepare = { table.prepare(for: $0) }
    apply = { table.apply(to: &$0, &$1) }
  }
}

@usableFromInline
final class DraftTable<E: Entity> {
  @inlinable
  init() {}

  @usableFromInline var edits: [DraftEdit<E>] = []
  @usableFromInline var places: [E.ID: Int] = [:]
  @usableFromInline var undone: [(place: Int, before: DraftEdit<E>?)] = []
  @usableFromInline var prepared: [PreparedEdit<E>] = []

  /// Whom the new values refer to.
  @usableFromInline var targets: [NodeNumber] = []
  @usableFromInline var table: EntityTable<E>?

  /// When all of the type was removed, which no rollback takes back: it just makes what sources
  /// bring come too late.
  @usableFromInline var clearedAt = Revision.none

  @inlinable
  func edit(of id: E.ID) -> DraftEdit<E>? {
    place(of: id).map { edits[$0] }
  }

  @inlinable
  func write(_ edit: DraftEdit<E>, canUndo: Bool) {
    if let place = place(of: edit.id) {
      let before = edits[place]
      if canUndo { undone.append((place, before)) }
      let last = edit.place.isFill ? before.place : edit.place
      edits[place] = DraftEdit(id: edit.id, value: edit.value, place: last)
      // Its release may be users' code that writes: not while the edits are being changed.
      withExtendedLifetime(before) {}
    } else {
      if canUndo { undone.append((edits.count, nil)) }
      if !places.isEmpty { places[edit.id] = edits.count }
      edits.append(edit)
      if places.isEmpty, edits.count > Self.fewEdits { learnPlaces() }
    }
  }

  @inlinable
  func clear(canUndo: Bool) {
    for edit in edits { write(DraftEdit(id: edit.id, value: nil, place: .now), canUndo: canUndo) }
    clearedAt = .next()
  }

  /// Few are found sooner without a dictionary.
  @inlinable
  func place(of id: E.ID) -> Int? {
    places.isEmpty ? edits.firstIndex { $0.id == id } : places[id]
  }

  @inlinable
  func learnPlaces() {
    for (place, edit) in edits.enumerated() { places[edit.id] = place }
  }

  @usableFromInline
  static var fewEdits: Int { 8 }
}

/// An edit, compared with what is stored.
@usableFromInline
struct PreparedEdit<E: Entity> {
  @usableFromInline let edit: DraftEdit<E>

  /// Where those are whom the new value refers to.
  @usableFromInline let targets: Range<Int>

  /// What observers are told; nil where nothing changes.
  @usableFromInline let cause: AnyReference?

  @inlinable
  init(edit: DraftEdit<E>, targets: Range<Int> = 0..<0, cause: AnyReference? = nil) {
    self.edit = edit
    self.targets = targets
    self.cause = cause
  }
}

// MARK: - Committing

extension DraftTable {
  @usableFromInline
  var undoCount: Int { undone.count }

  /// Takes back what was written last; gives that.
  @inlinable
  func undo(to count: Int) -> [DraftEdit<E>] {
    var gone: [DraftEdit<E>] = []
    while undone.count > count, let (place, before) = undone.popLast() {
      gone.append(edits[place])
      if let before {
        edits[place] = before
      } else {
        places[edits[place].id] = nil
        edits.remove(at: place)
      }
    }
    return gone
  }

  @inlinable
  func prepare(for core: EntityCore) {
    let table = core.table(E.self)
    let old = core.stored(edits.map(\.id), in: table)
    self.table = table
    var related = RelatedEntities(core)
    prepared = zip(edits, old).map { edit, old in
      if edit.value == old { return PreparedEdit(edit: edit) }
      let start = related.targets.count
      if let value = edit.value {
        for relation in table.relations { relation.read(value, &related) }
      }
      return PreparedEdit(
        edit: edit, targets: start..<related.targets.count,
        cause: AnyReference(Reference<E>(edit.id)))
    }
    targets = related.targets
  }

  @inlinable
  func apply(to shelves: inout EntityShelves, _ commit: inout Commit) {
    guard let table else { return }
    if clearedAt != .none { _ = table.order.admitAll(commit.revision) }
    var touched: [TableEdit<E>] = []
    for edit in prepared {
      if let cause = edit.cause {
        shelves.put(edit, targets, because: cause, in: table, &commit)
        touched.append(TableEdit(id: edit.edit.id, value: edit.edit.value))
      } else if edit.edit.place.isFill, let row = table.row(of: edit.edit.id) {
        // An answer that changes nothing is a use all the same.
        table.touch(row, commit.now, commit.revision)
      }
      note(edit.edit, in: table, commit)
    }
    let forgotten = table.order.takeForgotten()
    if !forgotten.isEmpty { commit.released.append(forgotten) }
    commit.notices += table.notices(of: touched, isSilent: commit.isSilent)
  }

  /// Notes that an entity was written, though maybe nothing new: what a source was asked for before
  /// comes too late.
  @inlinable
  func note(_ edit: DraftEdit<E>, in table: EntityTable<E>, _ commit: Commit) {
    let revision =
      switch edit.place {
      case .fill: Revision.none
      case .commit: commit.revision
      case .drawn(let revision): revision
      }
    if revision == .none { return }
    if edit.value == nil {
      // After a removal of all there is no need to remember each.
      if clearedAt == .none { table.order.remember(edit.id, revision) }
    } else if let row = table.row(of: edit.id) {
      table.touch(row, commit.now, commit.revision)
      table.rows[Int(row)].written = revision
    }
  }
}
