public import MillpondSignals

extension EntityStore {
  /// Returns a live query of all matching entities of a type, in order.
  ///
  ///     let recent = store.query(Book.self, where: { $0.year > 2_000 }, by: { $0.title < $1.title })
  ///     recent.changes.subscribeOnMain(onNext: { table.apply($0) })
  ///
  /// A query reports changes of the entities themselves and, at a depth, of those they refer to:
  /// the name of an author in a list of books is up to date with a depth of one.
  ///
  ///     let shelf = store.query(Book.self, by: { $0.title < $1.title }, depth: 1)
  ///     shelf.values
  ///       .map { [weak store] books in books.map { Row($0, author: store?.get($0.author)) } }
  ///       .subscribeOnMain(onNext: { show($0) })
  ///
  /// While it has a subscriber, no entity of the type is pruned.
  ///
  /// - Parameters:
  ///   - type: The type of the entities.
  ///   - isIncluded: Whether an entity matches; all do by default. Called once for each changed
  ///     entity. It may read from the store what the entity refers to, within the depth.
  ///   - areInIncreasingOrder: Whether the first entity precedes the second. Entities of equal
  ///     rank, and all of them without an order, are in the order of their arrival in the query. It
  ///     must depend on the two entities alone; to sort by what they refer to, map the values.
  ///   - depth: The number of references to follow: with one, changes of the entities that the
  ///     matching ones refer to count as changes of these; with two, also of those that they refer
  ///     to in turn, and so on, in any circle once. With zero, only their own changes count.
  @inlinable
  public func query<E: Entity>(
    _ type: E.Type, where isIncluded: @escaping @Sendable (E) -> Bool = { _ in true },
    by areInIncreasingOrder: (@Sendable (E, E) -> Bool)? = nil, depth: Int = 0
  ) -> EntityQuery<E> {
    EntityQuery(
      edits: core.edits(of: type, isQuery: true, depth: max(0, depth)),
      isIncluded: isIncluded,
      precedes: areInIncreasingOrder)
  }
}

/// The matching entities of a type, in order, see ``EntityStore/query(_:where:by:depth:)``.
///
/// Its closures run on the notifying thread, with no lock held.
@frozen
public struct EntityQuery<E: Entity>: Sendable {
  @usableFromInline let edits: Signal<[TableEdit<E>]>
  @usableFromInline let isIncluded: @Sendable (E) -> Bool
  @usableFromInline let precedes: (@Sendable (E, E) -> Bool)?

  @inlinable
  init(
    edits: Signal<[TableEdit<E>]>, isIncluded: @escaping @Sendable (E) -> Bool,
    precedes: (@Sendable (E, E) -> Bool)?
  ) {
    self.edits = edits
    self.isIncluded = isIncluded
    self.precedes = precedes
  }

  /// The matching entities, at first all of them, and then after each commit that changes any.
  ///
  /// With a depth, equal lists can follow each other: then something that they refer to differs.
  ///
  /// - Complexity: O(*m* log *n*) for a commit that touches *m* entities of the type, plus a copy
  ///   of the list if an earlier one is still in use; O((*m* + *n*) log *n*) for more than 128.
  ///   With a depth, *m* includes the entities that refer to changed ones, plus O(*k*) in the
  ///   entities above the changed ones that observers or lists lead to, and the references among
  ///   them.
  @inlinable
  public var values: Signal<[E]> {
    list { list, edits in
      let changes = list.apply(edits)
      if case .reset(let values)? = changes.last { return values }
      return changes.isEmpty ? nil : list.values
    }
  }

  /// The changes of the list, commit by commit; at first the insertion of all matching entities, or
  /// a reset if there are more than 128.
  ///
  /// An entity that refers to a changed one, within the depth, is updated with an equal value. A
  /// commit that changes more than 128 entities of the type sends a reset.
  ///
  /// - Complexity: O(*m* log *n*) for a commit that touches *m* entities of the type, plus moving
  ///   the elements behind them in memory; O((*m* + *n*) log *n*) for more than 128.
  @inlinable
  public var changes: Signal<[EntityListChange<E>]> {
    list { list, edits in
      let changes = list.apply(edits)
      return changes.isEmpty ? nil : changes
    }
  }

  /// Returns a signal of the answers to each commit, with a separate list for each subscription.
  ///
  /// The first answer is sent even if it is empty.
  @inlinable
  func list<Answer: Sendable & RangeReplaceableCollection>(
    _ answer: @escaping @Sendable (inout EntityList<E>, [TableEdit<E>]) -> Answer?
  ) -> Signal<Answer> {
    Signal { observer, lifetime in
      let list = EntityList(isIncluded: isIncluded, precedes: precedes)
      let state = SerialState((list: list, isNew: true))
      edits.run(
        observer.replacingNext { edits in
          let isFirst = state.value.isNew
          state.value.isNew = false
          let answer = answer(&state.value.list, edits) ?? (isFirst ? Answer() : nil)
          if let answer { observer.next(answer) }
        }, lifetime)
    }
  }
}

extension EntityCore {
  /// Returns all entities of a type as edits, and then the edits of each commit that touches the
  /// type.
  ///
  /// - Parameters:
  ///   - type: The type of the entities.
  ///   - isQuery: Whether the subscriber is a query, which protects the entities from pruning and
  ///     ends with the store. Otherwise it keeps a copy, and receives every edit.
  ///   - depth: The number of levels of references at which changes count as edits to equal values.
  @inlinable
  func edits<E: Entity>(
    of type: E.Type, isQuery: Bool, depth: Int = 0
  ) -> Signal<[TableEdit<E>]> {
    Signal { observer, lifetime in
      let watch = Watch<[TableEdit<E>]>(observer, lifetime)
      watch.open { .next(self.listen(watch, isQuery: isQuery, depth: depth)) }
    }
  }

  @inlinable
  func listen<E: Entity>(
    _ watch: Watch<[TableEdit<E>]>, isQuery: Bool, depth: Int
  ) -> [TableEdit<E>] {
    let listener = TableListener<E>(isQuery: isQuery, depth: depth) { edits in
      Notice { watch.post(.next(edits)) }
    }
    let (number, edits) = enter(isQuery ? watch : nil) { tables, number in
      let table = tables.table(E.self)
      table.listeners[number] = listener
      tables.depths[Int(table.number)] = table.depth
      if depth > 0 { tables.mark(below: Int(table.number)) }
      return (number, isQuery ? table.storedEdits : table.confirmedEdits)
    }
    watch.lifetime.onEnd { [self] in
      tables.discard { tables in
        tables.limit.depart()
        let table = tables.table(E.self)
        let former = table.listeners.removeValue(forKey: number)
        tables.depths[Int(table.number)] = table.depth
        if depth > 0, table.depth == 0 { tables.depart(table.rows.count) }
        return former
      }
    }
    return edits
  }
}
