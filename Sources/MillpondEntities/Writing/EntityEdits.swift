public import MillpondCore
public import MillpondSignals

/// The writes of a transaction to entities of one type, which only the writer sees.
///
/// There is one for each type of a store, reused by successive transactions, and touched only with
/// the turn.
@usableFromInline
final class EntityEdits<E: Entity> {
  @usableFromInline let table: EntityTable<E>
  @usableFromInline let tables: Locked<EntityTables>
  @usableFromInline let relations: [Relation<E>]

  /// The edits, and the place of each entity among them once they are many.
  @exclusivity(unchecked) @usableFromInline var edits: [Edit<E>] = []
  @exclusivity(unchecked) @usableFromInline var places: [E.ID: Int] = [:]
  @exclusivity(unchecked) @usableFromInline var undone: [(place: Int, before: Edit<E>?)] = []

  /// The revision of a removal of the whole type, which a rollback keeps: it only refuses fills
  /// requested before it.
  @usableFromInline var clearedAt = Revision.none

  /// The optimistic values of the edits, also of those that were replaced or undone.
  @exclusivity(unchecked) @usableFromInline var optimisticValues: [OptimisticValues<E>] = []

  /// The edits of the commit, and after it the objects to release after the turn.
  @exclusivity(unchecked) @usableFromInline var spent = SpentEdits<E>()

  /// The references of the values in the commit.
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

  /// Returns the place of an edit; a few are found faster without the dictionary.
  @inlinable
  func place(of id: E.ID) -> Int? {
    places.isEmpty ? edits.firstIndex { $0.id == id } : places[id]
  }

  @inlinable
  func stored(_ id: E.ID) -> (row: Int32?, value: E?) {
    tables.withLock { _ in table.find(id) }
  }

  /// Returns the identities of all stored entities, except those written after `revision`.
  @inlinable
  func storedIDs(until revision: Revision = .last) -> [E.ID] {
    tables.withLock { _ in table.storedIDs(until: revision) }
  }

  // MARK: Writing

  /// Writes a value, merged with the present one.
  ///
  /// Merging runs users' code, which may write as well: no edit is being changed meanwhile.
  @inlinable
  func set(_ value: E, _ order: EditOrder, canUndo: Bool) {
    if isOptimistic(order) { return setInLayers(value, order, canUndo: canUndo) }
    write(value.id, order, canUndo: canUndo) { $0.map { value.replacing($0) } ?? value }
  }

  @inlinable
  func remove(_ id: E.ID, _ order: EditOrder, canUndo: Bool) {
    if isOptimistic(order) { return removeInLayers(id, order, canUndo: canUndo) }
    write(id, order, canUndo: canUndo) { _ in nil }
  }

  /// Writes a former value, unless there is a newer one, with which it is merged.
  @inlinable
  func restore(_ value: E, canUndo: Bool) {
    if isOptimistic(.fill) { return restoreInLayers(value, canUndo: canUndo) }
    write(value.id, .fill, canUndo: canUndo) { $0.map { $0.replacing(value) } ?? value }
  }

  /// Writes what `make` returns for the present value.
  @inlinable
  func write(_ id: E.ID, _ order: EditOrder, canUndo: Bool, _ make: (E?) -> E?) {
    let edit = edit(of: id)
    let stored = edit?.stored ?? stored(id)
    write(Edit(id, make(edit == nil ? stored.value : edit?.value), order, stored), canUndo: canUndo)
  }

  /// Removes all stored entities, and all that were written so far.
  @inlinable
  func removeAll(_ order: EditOrder, canUndo: Bool) {
    for id in storedIDs() { remove(id, order, canUndo: canUndo) }
    for edit in edits where edit.value != nil || edit.optimisticPlace != nil {
      remove(edit.id, order, canUndo: canUndo)
    }
    if case .optimistic = order { return }
    for id in optimisticIDs() { remove(id, order, canUndo: canUndo) }
    clearedAt = .next()
  }

  @inlinable
  func write(_ edit: Edit<E>, canUndo: Bool) {
    if let place = place(of: edit.id) {
      let before = edits[place]
      if canUndo { undone.append((place, before)) }
      edits[place] = edit
      // Its release may run users' code that writes, which must not happen while the edits are
      // being changed.
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

  // MARK: Undoing

  /// Undoes the writes beyond the first `count` undo records, and returns them.
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

  /// Moves the edits to `spent`, for the commit; returns its former contents.
  @inlinable
  func finish() -> SpentEdits<E> {
    let former = takeSpent()
    swap(&edits, &spent.edits)
    swap(&places, &spent.places)
    swap(&undone, &spent.undone)
    (spent.clearedAt, clearedAt) = (clearedAt, .none)
    swap(&optimisticValues, &spent.optimisticValues)
    return former
  }

  /// Takes the objects to release after the turn.
  @inlinable
  func takeSpent() -> SpentEdits<E> {
    // A single edit is removed from its array, which is used again.
    if spent.edits.count == 1, spent.places.isEmpty, spent.undone.isEmpty,
      spent.optimisticValues.isEmpty, spent.optimistic.isEmpty
    {
      return SpentEdits(last: spent.edits.removeLast())
    }
    defer { if !spent.isEmpty { spent = SpentEdits() } }
    return spent
  }
}

/// The spent edits of one type, which contain users' objects.
@usableFromInline
struct SpentEdits<E: Entity>: Sendable {
  @usableFromInline var last: Edit<E>?
  @usableFromInline var edits: [Edit<E>] = []
  @usableFromInline var places: [E.ID: Int] = [:]
  @usableFromInline var undone: [(place: Int, before: Edit<E>?)] = []

  /// The revision of a removal of the whole type; see ``EntityEdits/clearedAt``.
  @usableFromInline var clearedAt = Revision.none

  /// The optimistic values of the edits; and the changes of such values.
  @usableFromInline var optimisticValues: [OptimisticValues<E>] = []
  @usableFromInline var optimistic: [OptimisticEdit<E>] = []

  @inlinable
  init(last: Edit<E>? = nil) {
    self.last = last
  }

  @inlinable
  var isEmpty: Bool {
    edits.isEmpty && undone.isEmpty && last == nil && optimisticValues.isEmpty
  }

  /// These edits; nil if there are none.
  @inlinable
  var ifAny: SpentEdits<E>? {
    isEmpty ? nil : self
  }
}

/// The new state of one entity.
@usableFromInline
struct Edit<E: Entity>: Sendable {
  @usableFromInline let id: E.ID

  /// The new value; nil removes the entity.
  @usableFromInline let value: E?
  @usableFromInline let order: EditOrder

  /// The row and the value before the commit; the value is released with this edit.
  @usableFromInline var stored: (row: Int32?, value: E?)

  /// Whether the value changes, and whether the entity had or has optimistic values.
  @usableFromInline var isChange = false
  @usableFromInline var isOptimistic = false

  /// The range of the references of the value.
  @usableFromInline var targets = 0..<0

  /// The place of the confirmed value below the new one, and of the values in between; nil if the
  /// new one is confirmed.
  ///
  /// A number, because an edit is copied often, and rarely has such values.
  @usableFromInline var optimisticPlace: Int32?

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
  /// A fill, which is not a write.
  case fill

  /// The revision of the commit; inside the transaction, later than all revisions drawn so far.
  case commit(after: Revision)

  /// A revision of its own, drawn before the write reached the store.
  case drawn(Revision)

  /// The revision of an optimistic write, later than all others. An edit has the order of its
  /// confirmed value, so never this one.
  case optimistic(Revision)

  /// The order of a write that is made now.
  @inlinable
  static var now: EditOrder {
    .commit(after: .present)
  }

  @inlinable
  var isFill: Bool {
    if case .fill = self { true } else { false }
  }

  /// Returns the revision of the write in a commit; that of a fill is none.
  @inlinable
  func written(in commit: Revision) -> Revision {
    switch self {
    case .fill, .optimistic: .none
    case .commit: commit
    case .drawn(let revision): revision
    }
  }

  /// The revision to compare within the transaction; that of a fill comes before all writes.
  @inlinable
  var revision: Revision {
    switch self {
    case .fill, .optimistic: .none
    case .commit(let revision), .drawn(let revision): revision
    }
  }
}
