import Millpond
import MillpondEntities
import MillpondSignals

/// Bulk operations of the entity store, up to 10,000 entities in a commit and 100,000 in a store.
func worstEntityRows() -> [WorstRow] {
  [
    WorstRow(
      name: "worst-entities-set", summary: "a transaction of n new entities", greatest: 10_000,
      waitTarget: 8
    ) { count in
      let store = EntityStore()
      return .update(store, count) { parts in
        for id in 0..<count { parts.set(Part(id: id)) }
      } check: {
        store.count == count
      }
    },
    WorstRow(
      name: "worst-entities-query", summary: "an update of n entities with a sorted live query",
      greatest: 10_000, waitTarget: 8
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
      name: "worst-entities-referrers",
      summary: "a set of an observed entity with n unobserved references to it", unit: .single,
      greatest: 100_000
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
      unit: .single, greatest: 100_000
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
    WorstRow(
      name: "worst-entities-remove", summary: "the removal of n entities", greatest: 10_000,
      waitTarget: 8
    ) { count in
      let store = EntityStore(chainOf: count)
      return .update(store, count) {
        $0.removeAll()
      } check: {
        store.count == 0
      }
    },
    WorstRow(
      name: "worst-entities-limit",
      summary: "a set beyond the limit of n, which evicts a sixteenth",
      greatest: 100_000, waitTarget: 8
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
