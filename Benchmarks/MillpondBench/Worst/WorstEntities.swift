import Millpond
import MillpondEntities
import MillpondSignals

/// Bulk operations of the entity store.
func worstEntityRows() -> [WorstRow] {
  [
    WorstRow(name: "worst-entities-set", summary: "a transaction of n new entities") { count in
      let store = EntityStore()
      return .update(store, count) { parts in
        for id in 0..<count { parts.set(Part(id: id)) }
      } check: {
        store.count == count
      }
    },
    WorstRow(
      name: "worst-entities-query", summary: "an update of n entities with a sorted live query",
      waitTarget: 2
    ) { count in
      let store = EntityStore(chainOf: count)
      let query = store.query(Part.self, by: { ($0.revision, $0.id) < ($1.revision, $1.id) })
      let notices = Sum()
      let subscription = query.values.subscribe(onNext: { notices.add($0.count) })
      return .update(store, count) { parts in
        for id in 0..<count { parts.set(Part(id: id, revision: -id, first: Reference(id + 1))) }
      } check: {
        subscription.dispose()
        return notices.take() == 2 * count
      }
    },
    WorstRow(
      name: "worst-entities-query-end", summary: "the removal of n entities with a live query"
    ) { count in
      let store = EntityStore(chainOf: count)
      let query = store.query(Part.self)
      let notices = Sum()
      let subscription = query.changes.subscribe(onNext: { notices.add($0.count) })
      return .update(store, count) {
        $0.removeAll()
      } check: {
        subscription.dispose()
        return notices.take() == 2 * count && store.count == 0
      }
    },
    WorstRow(
      name: "worst-entities-chain",
      summary: "an update of the last two entities of a fully observed chain of n",
      greatest: 100_000, waitTarget: 2
    ) { count in
      let store = EntityStore(chainOf: count)
      let notices = Sum()
      let subscriptions = (0..<count).map {
        store.signal(of: Reference<Part>($0)).subscribe(onNext: { notices.add($0.causes.count) })
      }
      return .update(store, count) { parts in
        parts.set(Part(id: count - 2, revision: 1, first: Reference(count - 1)))
        parts.set(Part(id: count - 1, revision: 1))
      } check: {
        for subscription in subscriptions { subscription.dispose() }
        return notices.take() == 2 * count - 1
      }
    },
    WorstRow(
      name: "worst-entities-watchers", summary: "a set of an entity with n observers",
      greatest: 100_000, waitTarget: 2
    ) { count in
      let store = EntityStore(chainOf: 2)
      let notices = Sum()
      let subscriptions = (0..<count).map { _ in
        store.signal(of: Reference<Part>(0)).subscribe(onNext: { _ in notices.add(1) })
      }
      return .update(store, count) { parts in
        parts.set(Part(id: 0, revision: 1, first: Reference(1)))
      } check: {
        for subscription in subscriptions { subscription.dispose() }
        return notices.take() == 2 * count
      }
    },
    WorstRow(
      name: "worst-entities-list",
      summary: "a set below the last of a chain of n, which a list shows with all references",
      greatest: 100_000, waitTarget: 2
    ) { count in
      let store = EntityStore(chainOf: count)
      let notices = Sum()
      let list = store.query(Part.self, depth: .max)
      let subscription = list.changes.subscribe(onNext: { notices.add($0.count) })
      return .update(store, count) { parts in
        parts.set(Part(id: count - 1, revision: 1))
      } check: {
        subscription.dispose()
        return notices.take() == 2 * count
      }
    },
    WorstRow(
      name: "worst-entities-remove-most",
      summary: "the removal of 15 of 16 of n entities in a chain, and the return of their memory",
      waitTarget: 2
    ) { count in
      let store = EntityStore(chainOf: count)
      return .update(store, count) { parts in
        for id in 0..<count where !id.isMultiple(of: 16) { parts.remove(Reference<Part>(id)) }
      } check: {
        store.count == (count + 15) / 16
      }
    },
    WorstRow(
      name: "worst-entities-referrers",
      summary: "a set of an observed entity with n unobserved references to it", unit: .single
    ) { count in
      let store = EntityStore()
      store.update { parts in
        for id in 1...count { parts.set(Part(id: id, first: Reference(0))) }
      }
      let notices = Sum()
      let subscription = store.signal(of: Reference<Part>(0)).subscribe(onNext: { _ in
        notices.add(1)
      })
      return .setOfFirst(in: store, notices, subscription)
    },
    WorstRow(
      name: "worst-entities-depth",
      summary: "a set of an entity that a list refers to, with n references from others",
      unit: .single
    ) { count in
      let store = EntityStore()
      store.update { parts in
        for id in 1...count { parts.set(Part(id: id, first: Reference(0))) }
      }
      store.set(ListedPart(id: 0, part: Reference(0)))
      let notices = Sum()
      let subscription = store.query(ListedPart.self, depth: 1).values.subscribe(onNext: { _ in
        notices.add(1)
      })
      return .setOfFirst(in: store, notices, subscription)
    },
    WorstRow(name: "worst-entities-remove-all", summary: "the removal of n entities") { count in
      let store = EntityStore(chainOf: count)
      return .update(store, count) {
        $0.removeAll()
      } check: {
        store.count == 0
      }
    },
    WorstRow(name: "worst-entities-prune", summary: "the pruning of n unused entities") { count in
      let store = EntityStore(chainOf: count)
      return WorstCase {
        store.prune()
      } neighbour: {
        _ = store.get(Reference<Part>(1))
      } check: {
        store.prune()
        return store.count == 0
      }
    },
    WorstRow(
      name: "worst-entities-limit", summary: "a set at the limit of n entities", unit: .single
    ) { count in
      let store = EntityStore(countLimit: count)
      store.update { parts in
        for id in 0..<count { parts.set(Part(id: id)) }
      }
      return WorstCase {
        store.set(Part(id: count))
      } neighbour: {
        _ = store.get(Reference<Part>(1))
      } check: {
        store.count <= count
      }
    },
    WorstRow(
      name: "worst-entities-observers", summary: "n observers of a chain of n leave, the last first"
    ) { count in
      let store = EntityStore(chainOf: count)
      var subscriptions = (0..<count).map { store.signal(of: Reference<Part>($0)).subscribe() }
      return WorstCase {
        while let last = subscriptions.popLast() { last.dispose() }
      } neighbour: {
        _ = store.get(Reference<Part>(1))
      } check: {
        store.count == count
      }
    },
  ]
}

/// An entity of a list, which shows a part.
private struct ListedPart: Entity {
  let id: Int
  let part: Reference<Part>

  static let relations: [Relation<ListedPart>] = [Relation(\.part)]
}

extension EntityStore {
  /// Makes a store of `count` parts, each of which refers to the next.
  fileprivate convenience init(chainOf count: Int) {
    self.init()
    update { parts in
      for id in 0..<count - 1 { parts.set(Part(id: id, first: Reference(id + 1))) }
      parts.set(Part(id: count - 1))
    }
  }
}

extension WorstCase {
  /// A transaction, while others read.
  fileprivate static func update(
    _ store: EntityStore, _ count: Int, _ body: @escaping (EntityTransaction) -> Void,
    check: @escaping () -> Bool
  ) -> WorstCase {
    WorstCase {
      store.update(body)
    } neighbour: {
      _ = store.get(Reference<Part>(1))
    } check: {
      check()
    }
  }
  /// A set of the first entity, of which the subscription counts two notices, while others read.
  fileprivate static func setOfFirst(
    in store: EntityStore, _ notices: Sum, _ subscription: Disposable
  ) -> WorstCase {
    WorstCase {
      store.set(Part(id: 0, revision: 1))
    } neighbour: {
      _ = store.get(Reference<Part>(1))
    } check: {
      subscription.dispose()
      return notices.take() == 2
    }
  }
}
