import MillpondCore
public import MillpondSignals

extension EntityStore {
  /// The entity as it is, and from then on each time it changes: by itself, by something that it
  /// refers to, however indirectly, or by its removal.
  ///
  ///     store.signal(of: book).subscribe(onNext: { change in
  ///       title.text = change.value?.title ?? "gone"
  ///     })
  ///
  /// The first value comes inside the subscription, also where there is no such entity. A commit
  /// gives one value at most, and names its causes; a set that changes nothing gives none. It never
  /// completes. Where changes come faster than they can be shown,
  /// ``Signal/throttle(_:_:clock:)`` keeps the latest.
  ///
  /// - Complexity: O(*n*) to subscribe, in what the entity refers to that nobody observes yet.
  @inlinable
  public func signal<E>(of reference: Reference<E>) -> Signal<EntityChange<E>> {
    core.signal(of: reference)
  }
}

extension EntityCore {
  @inlinable
  func signal<E>(of reference: Reference<E>) -> Signal<EntityChange<E>> {
    Signal { observer, lifetime in
      let watch = Watch<EntityChange<E>>(observer, lifetime)
      watch.open { .next(EntityChange(value: self.observe(reference, watch), causes: [])) }
    }
  }

  /// The entity as long as there is one.
  @inlinable
  func values<E>(of reference: Reference<E>) -> Signal<E> {
    // No key path, which would be made anew by each call that is not specialised.
    signal(of: reference).take { $0.value != nil }.compactMap { $0.value }
  }

  /// Lets `watch` be told of an entity from now on; gives what it is by now.
  @inlinable
  func observe<E>(
    _ reference: Reference<E>, _ watch: Watch<EntityChange<E>>
  ) -> E? {
    let now = time.now()
    let (node, number, value) = enter(watch) { tables, observers, number in
      let table = tables.table(E.self)
      let node = table.node(of: reference.id, in: &tables.graph)
      let notice = NodeWatch { row, causes in
        let change = EntityChange(value: table.rows[Int(row)].value, causes: causes)
        return { watch.post(.next(change)) }
      }
      observers.add(notice, number, of: node, in: &tables)
      let row = tables.graph.nodes[Int(node)].row
      table.touch(row, now)
      return (node, number, table.rows[Int(row)].value)
    }
    watch.lifetime.onEnd { [self] in
      let now = time.now()
      let released = withLock { $1.remove(number, of: node, in: &$0, now) }
      _ = released  // released here, not under the lock
    }
    return value
  }
}
