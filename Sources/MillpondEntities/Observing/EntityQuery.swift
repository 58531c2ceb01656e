public import MillpondSignals

extension EntityStore {
  /// All entities of a type that are as wanted, in order, now and from then on.
  ///
  ///     let recent = store.query(Book.self, where: { $0.year > 2_000 }, by: { $0.title < $1.title })
  ///     recent.changes.subscribeOnMain(onNext: { table.apply($0) })
  ///
  /// What they refer to does not count: a query is told of changes of the entities themselves. As long
  /// as it is subscribed to, nothing of the type is pruned.
  ///
  /// - Parameters:
  ///   - isIncluded: Which ones; all by default. Called once for each that changes.
  ///   - areInIncreasingOrder: Whether the first comes before the second. Those of equal rank, and all
  ///     where none is given, are in the order in which they came to the query.
  @inlinable
  public func query<E: Entity>(
    _ type: E.Type, where isIncluded: @escaping @Sendable (E) -> Bool = { _ in true },
    by areInIncreasingOrder: (@Sendable (E, E) -> Bool)? = nil
  ) -> EntityQuery<E> {
    EntityQuery(
      edits: core.edits(of: type, isQuery: true), isIncluded: isIncluded,
      precedes: areInIncreasingOrder)
  }
}

/// Entities of a type, filtered and sorted, see ``EntityStore/query(_:where:by:)``.
///
/// Its closures run on the thread that tells, with no lock held.
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

  /// All of them, first as they are, then after each commit that changes anything of that.
  ///
  /// - Complexity: O(*m* log *n*) a commit that touches *m* of the type, and a copy of the list if an
  ///   earlier one is still in use.
  @inlinable
  public var values: Signal<[E]> {
    list { list, edits in list.apply(edits).isEmpty ? nil : list.values }
  }

  /// What changes in the list, commit by commit; at first the insertion of all there is.
  ///
  /// - Complexity: O(*m* log *n*) a commit that touches *m* of the type, and moving up what lies
  ///   behind in memory.
  @inlinable
  public var changes: Signal<[EntityListChange<E>]> {
    list { list, edits in
      let changes = list.apply(edits)
      return changes.isEmpty ? nil : changes
    }
  }

  /// A signal of what `answer` makes of each commit, with a list for each subscription; of the first,
  /// also if that is nothing.
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
  /// All entities of a type as edits, and then the edits of each commit that touches it.
  ///
  /// - Parameter isQuery: Whether it keeps what is there from being pruned, and ends with the store;
  ///   else it keeps a copy, and is told of all.
  @inlinable
  func edits<E: Entity>(of type: E.Type, isQuery: Bool) -> Signal<[TableEdit<E>]> {
    Signal { observer, lifetime in
      let watch = Watch<[TableEdit<E>]>(observer, lifetime)
      watch.open { .next(self.listen(watch, isQuery: isQuery)) }
    }
  }

  @inlinable
  func listen<E: Entity>(
    _ watch: Watch<[TableEdit<E>]>, isQuery: Bool
  ) -> [TableEdit<E>] {
    let listener = TableListener<E>(isQuery: isQuery) { edits in { watch.post(.next(edits)) } }
    let (number, edits) = enter(isQuery ? watch : nil) { tables, _, number in
      let table = tables.table(E.self)
      table.listeners[number] = listener
      if isQuery, tables.collection.isCollecting {
        table.storedNodes.forEach { tables.collection.arrive($0) }
      }
      return (number, table.storedEdits)
    }
    watch.lifetime.onEnd { [self] in
      let released = tables.withLock { tables in
        tables.collection.depart()
        return tables.table(E.self).listeners.removeValue(forKey: number)
      }
      _ = released  // released here, not under the lock
    }
    return edits
  }
}
