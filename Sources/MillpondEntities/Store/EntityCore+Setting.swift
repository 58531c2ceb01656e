public import MillpondCore
public import MillpondSignals

extension EntityCore {
  /// Keeps a value, merged with what is there.
  @inlinable
  func set<E: Entity>(_ value: E) {
    if turn.isMine() { return write(value, .now) }
    let (released, mustTell) = turn.take { setAlone(value) }
    _ = released  // released here, when others may write again
    if mustTell { deliver() }
  }

  @inlinable
  func write<E: Entity>(_ value: E, _ place: EditPlace) {
    // The merge is the user's code, and may write as well: nothing is being changed meanwhile.
    let merged = peek(value.reference).map { value.replacing($0) } ?? value
    write(DraftEdit(id: value.id, value: merged, place: place))
  }

  /// The transaction of one value, for which no draft is needed: as most are.
  ///
  /// - Returns: What is to be released when the turn is over, and whether somebody is to be told.
  @inlinable
  func setAlone<E: Entity>(
    _ value: E
  ) -> (released: (E?, E, Remains), mustTell: Bool) {
    let id = value.id
    let (known, row, old) = shelves.withLock { shelves -> (EntityTable<E>?, Int32?, E?) in
      guard let table = shelves.table(E.self) else { return (nil, nil, nil) }
      let (row, old) = table.find(id)
      return (table, row, old)
    }
    let table = known ?? table(E.self)
    let new = old.map { value.replacing($0) } ?? value
    var others = Remains()
    let isSame = new == old
    var related = RelatedEntities(self, spareTargets)
    spareTargets = []
    if !isSame {
      for relation in table.relations { relation.read(new, &related) }
    }
    let now = time.now()
    if !draft.isEmpty {
      // Users' code has written something meanwhile, which belongs to it.
      shelves.withLock { $0.forgettable += related.targets }
      write(DraftEdit(id: new.id, value: new, place: .now))
      commit(&others)
      return ((old, new, others), true)
    }
    let (mustTell, isCrowded) = shelves.withLock { shelves in
      if isSame, let row {
        table.note(row, now, .next())
      } else {
        // What is replaced is not released here: it is `old`.
        shelves.put(
          new, at: old == nil ? nil : row, related.targets, in: table, now: now, &others.values)
      }
      return (!shelves.notices.isEmpty, shelves.isCrowded(countLimit))
    }
    if related.targets.count <= Self.fewTargets {
      related.targets.removeAll(keepingCapacity: true)
      spareTargets = related.targets
    }
    if isCrowded { makeRoom(&others) }
    return ((old, new, others), mustTell || isCrowded)
  }

  @usableFromInline
  static var fewTargets: Int { 64 }

  /// The node of one who is referred to by what is about to be committed, and kept until then.
  @inlinable
  func node<E>(of reference: Reference<E>) -> NodeNumber {
    let number = shelves.withLock { shelves in
      guard let table = shelves.table(E.self) else { return Graph.none }
      return shelves.node(of: reference, in: table)
    }
    if number != Graph.none { return number }
    let table = table(E.self)
    return shelves.withLock { $0.node(of: reference, in: table) }
  }
}
