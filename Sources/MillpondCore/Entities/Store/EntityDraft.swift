import MillpondSignals

/// What a transaction has written so far: nobody sees it but the writer.
struct EntityDraft {
  private(set) var parts: [any DraftPart] = []
  private var places: [ObjectIdentifier: Int] = [:]

  /// Whether something is to be pruned when the transaction is over.
  var pruning: Duration?

  /// How many transactions are within one another; in the inner ones, writes can be undone.
  var depth = 0

  /// Whether all was removed, which makes come too late what sources were asked for before; and
  /// whether observers are not told of it.
  private(set) var isCleared = false
  private(set) var isSilent = false

  var isEmpty: Bool {
    parts.isEmpty && pruning == nil && !isCleared
  }

  /// What was written to `id`; nil if nothing was.
  func edit<E: Entity>(of id: E.ID, _: E.Type) -> DraftEdit<E>? {
    part(E.self)?.edit(of: id)
  }

  mutating func write<E: Entity>(_ edit: DraftEdit<E>) {
    let part = part(E.self) ?? addPart(E.self)
    part.write(edit, canUndo: depth > 0)
  }

  /// Removes all that was written of a type.
  mutating func clear<E: Entity>(_: E.Type) {
    let part = part(E.self) ?? addPart(E.self)
    part.clear(canUndo: depth > 0)
  }

  mutating func clearAll(isSilent: Bool) {
    isCleared = true
    self.isSilent = isSilent
  }

  /// How much there is to be undone by now.
  var savepoint: [Int] {
    parts.map { $0.undoCount }
  }

  func rollBack(to savepoint: [Int]) {
    for (number, part) in parts.enumerated() {
      part.undo(to: number < savepoint.count ? savepoint[number] : 0)
    }
  }

  func part<E: Entity>(_: E.Type) -> DraftTable<E>? {
    places[ObjectIdentifier(E.self)].flatMap { parts[$0] as? DraftTable<E> }
  }

  private mutating func addPart<E: Entity>(_: E.Type) -> DraftTable<E> {
    let part = DraftTable<E>()
    places[ObjectIdentifier(E.self)] = parts.count
    parts.append(part)
    return part
  }
}

/// What is to become of one entity.
struct DraftEdit<E: Entity> {
  let id: E.ID

  /// What it is to be; nil removes it.
  var value: E?

  /// Whether a source brought it, which is no telling.
  var isFill = false
}

/// The part of a draft that is about one type.
protocol DraftPart: AnyObject {
  var undoCount: Int { get }
  func undo(to count: Int)

  /// Drops what changes nothing, and reads the relations of the rest: the part that runs users' code.
  func prepare(for core: EntityCore)

  /// Carries out what is left, under the lock.
  func apply(to shelves: inout EntityShelves, _ commit: inout Commit)
}

final class DraftTable<E: Entity> {
  private var edits: [DraftEdit<E>] = []
  private var places: [E.ID: Int] = [:]
  private var undone: [(place: Int, before: DraftEdit<E>?)] = []
  private var prepared: [PreparedEdit<E>] = []
  private var table: EntityTable<E>?

  /// Whether all of the type was removed, which no rollback takes back: it just makes what sources
  /// bring come too late.
  private var isCleared = false

  func edit(of id: E.ID) -> DraftEdit<E>? {
    place(of: id).map { edits[$0] }
  }

  func write(_ edit: DraftEdit<E>, canUndo: Bool) {
    if let place = place(of: edit.id) {
      if canUndo { undone.append((place, edits[place])) }
      let isFill = edit.isFill && edits[place].isFill
      edits[place] = DraftEdit(id: edit.id, value: edit.value, isFill: isFill)
    } else {
      if canUndo { undone.append((edits.count, nil)) }
      if !places.isEmpty { places[edit.id] = edits.count }
      edits.append(edit)
      if places.isEmpty, edits.count > Self.fewEdits { learnPlaces() }
    }
  }

  func clear(canUndo: Bool) {
    for edit in edits { write(DraftEdit(id: edit.id, value: nil), canUndo: canUndo) }
    isCleared = true
  }

  /// Few are found sooner without a dictionary.
  private func place(of id: E.ID) -> Int? {
    places.isEmpty ? edits.firstIndex { $0.id == id } : places[id]
  }

  private func learnPlaces() {
    for (place, edit) in edits.enumerated() { places[edit.id] = place }
  }

  private static var fewEdits: Int { 8 }
}

/// An edit, compared with what is stored.
struct PreparedEdit<E: Entity> {
  let edit: DraftEdit<E>

  /// Whom the new value refers to.
  var targets: [any Interned] = []

  /// What observers are told; nil where nothing changes.
  var cause: AnyReference?
}

extension DraftTable: DraftPart {
  var undoCount: Int { undone.count }

  func undo(to count: Int) {
    while undone.count > count, let (place, before) = undone.popLast() {
      if let before {
        edits[place] = before
      } else {
        places[edits[place].id] = nil
        edits.remove(at: place)
      }
    }
  }

  func prepare(for core: EntityCore) {
    let table = core.table(E.self)
    let old = core.stored(edits.map(\.id), in: table)
    self.table = table
    prepared = zip(edits, old).map { edit, old in
      if edit.value == old { return PreparedEdit(edit: edit) }
      var related = RelatedEntities()
      if let value = edit.value {
        for relation in table.relations { relation.read(value, &related) }
      }
      for target in related.targets { target.prepare(in: core) }
      return PreparedEdit(
        edit: edit, targets: related.targets, cause: AnyReference(Reference<E>(edit.id)))
    }
  }

  func apply(to shelves: inout EntityShelves, _ commit: inout Commit) {
    guard let table else { return }
    if isCleared { table.clearedAt = commit.revision }
    var touched: [TableEdit<E>] = []
    for edit in prepared {
      if let cause = edit.cause {
        shelves.put(edit, because: cause, in: table, &commit)
        touched.append(TableEdit(id: edit.edit.id, value: edit.edit.value))
      }
      if !edit.edit.isFill { shelves.note(edit.edit.id, in: table, commit) }
    }
    commit.notices += table.notices(of: touched, isSilent: commit.isSilent)
  }
}
