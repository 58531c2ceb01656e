public import MillpondCore
public import MillpondSignals

/// The writes of a transaction to entities of one type: nobody sees them but the writer.
///
/// One for each type of a store, used by one transaction after the other. Who reads or writes it has
/// the turn.
@usableFromInline
final class EntityEdits<E: Entity> {
  @usableFromInline let table: EntityTable<E>
  @usableFromInline let tables: Locked<EntityTables>
  @usableFromInline let relations: [Relation<E>]

  /// What was written, and where each entity is among that, if that is many.
  @exclusivity(unchecked) @usableFromInline var edits: [Edit<E>] = []
  @exclusivity(unchecked) @usableFromInline var places: [E.ID: Int] = [:]
  @exclusivity(unchecked) @usableFromInline var undone: [(place: Int, before: Edit<E>?)] = []

  /// When all of the type was removed, which no rollback takes back: it just makes what sources
  /// bring come too late.
  @usableFromInline var clearedAt = Revision.none

  /// What is being committed, and after that what is to be released when the turn is over.
  @exclusivity(unchecked) @usableFromInline var spent = SpentEdits<E>()

  /// Whom the values that are being committed refer to.
  @exclusivity(unchecked) @usableFromInline var targets: [NodeNumber] = []

  @inlinable
  init(_ tables: Locked<EntityTables>) {
    self.tables = tables
    table = tables.withLock { $0.table(E.self) }
    relations = E.relations
  }

  @inlinable
  func edit(of id: E.ID) -> Edit<E>? {
    place(of: id).map { edits[$0] }
  }

  /// Few are found sooner without a dictionary.
  @inlinable
  func place(of id: E.ID) -> Int? {
    places.isEmpty ? edits.firstIndex { $0.id == id } : places[id]
  }

  /// What is stored by now.
  @inlinable
  func stored(_ id: E.ID) -> (row: Int32?, value: E?) {
    tables.withLock { _ in table.find(id) }
  }

  /// The identities of all that is stored by now, but for what was written after `revision`.
  @inlinable
  func storedIDs(until revision: Revision = .last) -> [E.ID] {
    tables.withLock { _ in table.storedIDs(until: revision) }
  }

  // MARK: Writing

  /// Writes a value, merged with what is there by the user's code, which may write as well: nothing
  /// is being changed meanwhile.
  @inlinable
  func set(_ value: E, _ order: EditOrder, canUndo: Bool) {
    let id = value.id
    if let edit = edit(of: id) {
      let merged = edit.value.map { value.replacing($0) } ?? value
      write(Edit(id, merged, order, edit.stored), canUndo: canUndo)
    } else {
      let stored = stored(id)
      let merged = stored.value.map { value.replacing($0) } ?? value
      write(Edit(id, merged, order, stored), canUndo: canUndo)
    }
  }

  @inlinable
  func remove(_ id: E.ID, _ order: EditOrder, canUndo: Bool) {
    write(Edit(id, nil, order, edit(of: id)?.stored ?? stored(id)), canUndo: canUndo)
  }

  /// Keeps what was there once, unless there is something newer, with which it is merged.
  @inlinable
  func restore(_ value: E, canUndo: Bool) {
    let edit = edit(of: value.id)
    let stored = edit?.stored ?? stored(value.id)
    let newer = edit == nil ? stored.value : edit?.value
    write(
      Edit(value.id, newer.map { $0.replacing(value) } ?? value, .fill, stored), canUndo: canUndo)
  }

  /// Removes all that is stored, and all that was written so far.
  @inlinable
  func removeAll(canUndo: Bool) {
    for id in storedIDs() { remove(id, .now, canUndo: canUndo) }
    for edit in edits { remove(edit.id, .now, canUndo: canUndo) }
    clearedAt = .next()
  }

  @inlinable
  func write(_ edit: Edit<E>, canUndo: Bool) {
    if let place = place(of: edit.id) {
      let before = edits[place]
      if canUndo { undone.append((place, before)) }
      edits[place] = edit
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
  func learnPlaces() {
    for (place, edit) in edits.enumerated() { places[edit.id] = place }
  }

  @usableFromInline
  static var fewEdits: Int { 8 }

  // MARK: Taking back

  /// Takes back what was written since there was so much to undo; gives that.
  @inlinable
  func undo(to count: Int) -> [Edit<E>] {
    var gone: [Edit<E>] = []
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

  /// Lets what was written be committed, or released; gives what is left of an earlier time.
  @inlinable
  func finish() -> SpentEdits<E> {
    let former = takeSpent()
    swap(&edits, &spent.edits)
    swap(&places, &spent.places)
    swap(&undone, &spent.undone)
    (spent.clearedAt, clearedAt) = (clearedAt, .none)
    return former
  }

  /// Takes what is to be released when the turn is over.
  @inlinable
  func takeSpent() -> SpentEdits<E> {
    // One alone is taken out of its array, which is used again.
    if spent.edits.count == 1, spent.places.isEmpty, spent.undone.isEmpty {
      return SpentEdits(last: spent.edits.removeLast())
    }
    defer { if !spent.isEmpty { spent = SpentEdits() } }
    return spent
  }
}

/// What a transaction has left behind of a type, with objects of users in it.
@usableFromInline
struct SpentEdits<E: Entity>: Sendable {
  @usableFromInline var last: Edit<E>?
  @usableFromInline var edits: [Edit<E>] = []
  @usableFromInline var places: [E.ID: Int] = [:]
  @usableFromInline var undone: [(place: Int, before: Edit<E>?)] = []

  /// When all of the type was removed; see ``EntityEdits/clearedAt``.
  @usableFromInline var clearedAt = Revision.none

  @inlinable
  init(last: Edit<E>? = nil) {
    self.last = last
  }

  @inlinable
  var isEmpty: Bool {
    edits.isEmpty && undone.isEmpty && last == nil
  }

  /// This, unless there is nothing in it.
  @inlinable
  var ifAny: SpentEdits<E>? {
    isEmpty ? nil : self
  }
}

/// What is to become of one entity.
@usableFromInline
struct Edit<E: Entity>: Sendable {
  @usableFromInline let id: E.ID

  /// What it is to be; nil removes it.
  @usableFromInline let value: E?
  @usableFromInline let order: EditOrder

  /// Where it is, and what it is, before the commit; the value is released with this.
  @usableFromInline var stored: (row: Int32?, value: E?)

  /// Whether it is to be another, and where those are whom it refers to then.
  @usableFromInline var isChange = false
  @usableFromInline var targets = 0..<0

  @inlinable
  init(_ id: E.ID, _ value: E?, _ order: EditOrder, _ stored: (row: Int32?, value: E?)) {
    self.id = id
    self.value = value
    self.order = order
    self.stored = stored
  }
}

/// The place of an edit in the order of writes.
@usableFromInline
enum EditOrder: Sendable {
  /// No write: a source has brought it.
  case fill

  /// That of the commit; within the transaction it comes after all that was drawn by then.
  case commit(after: Revision)

  /// Its own, which was drawn before it came to the store.
  case drawn(Revision)

  /// That of what is written now.
  @inlinable
  static var now: EditOrder {
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
