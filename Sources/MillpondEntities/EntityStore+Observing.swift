public import MillpondCore
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
    signal(of: reference).take { $0.value != nil }.compactMap(\.value)
  }

  /// Lets `watch` be told of an entity from now on; gives what it is by now.
  @inlinable
  func observe<E>(
    _ reference: Reference<E>, _ watch: Watch<EntityChange<E>>
  ) -> E? {
    let table = table(E.self)
    let now = time.now()
    let (node, number, value) = enter(watch) { shelves, number in
      let node = table.node(of: reference.id, in: &shelves.graph)
      let notice = NodeWatch { row, causes in
        let change = EntityChange(value: table.rows[Int(row)].value, causes: causes)
        return { watch.post(.next(change)) }
      }
      shelves.watch(node, notice, number)
      let row = shelves.graph.nodes[Int(node)].row
      table.touch(row, now)
      return (node, number, table.rows[Int(row)].value)
    }
    watch.lifetime.onEnd { [self] in
      let now = time.now()
      let released = withLock { $0.unwatch(node, number, now) }
      _ = released  // released here, not under the lock
    }
    return value
  }
}

extension EntityShelves {
  @usableFromInline
  mutating func watch(_ node: NodeNumber, _ watch: NodeWatch, _ number: Int) {
    watches[node, default: [:]][number] = watch
    graph.nodes[Int(node)].isWatched = true
    arrive(node)
    graph.mark(below: CollectionOfOne(node))
  }

  /// Lets go of an observer; gives what is to be released after the unlock.
  @usableFromInline
  mutating func unwatch(
    _ node: NodeNumber, _ number: Int, _ now: Int64
  ) -> (watch: NodeWatch?, entity: (any Sendable)?) {
    touch(node, now)
    let watch = watches[node]?.removeValue(forKey: number)
    guard watches[node]?.isEmpty == true else { return (watch, nil) }
    watches[node] = nil
    graph.nodes[Int(node)].isWatched = false
    crowd = 0
    departures += 1
    // As often as it costs no more than the departures themselves, stale marks are wiped out.
    if departures > graph.markedCount / 8 {
      departures = 0
      graph.remark(below: watches.keys)
    }
    return (watch, forget(node))
  }
}
