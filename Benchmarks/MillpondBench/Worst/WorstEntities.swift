import MillpondEntities
import MillpondSignals

/// Bulk operations of the entity store, up to 10,000 entities in a commit and 100,000 in a store.
func worstEntityRows() -> [Row] {
  [
    .update("set", "a transaction of n new entities") { count in
      let store = EntityStore()
      return (store, { $0.setParts(count) }, { store.count == count })
    },
    .update("query", "an update of n entities with a sorted live query") { count in
      let store = EntityStore(count) { Part(id: $0, first: Reference($0 + 1)) }
      let query = store.query(Part.self, by: { ($0.revision, $0.id) < ($1.revision, $1.id) })
      let notices = Sum()
      let subscription = query.values.subscribe(onNext: { notices.add($0.count) })
      return (
        store, { $0.setParts(count, revision: -1) },
        {
          subscription.dispose()
          return notices.take() == 2 * count
        }
      )
    },
    .update("remove", "the removal of n entities") { count in
      let store = EntityStore(count) { Part(id: $0, first: Reference($0 + 1)) }
      return (store, { $0.removeAll() }, { store.count == 0 })
    },
    .worst(
      "entities-referrers", "a set of an observed entity with n unobserved references to it",
      .single, greatest: 100_000, wait: 8
    ) { count in
      let store = EntityStore(count) { Part(id: $0 + 1, first: Reference(0)) }
      let notices = Sum()
      let subscription = store.signal(of: Reference<Part>(0)).subscribe(onNext: { _ in
        notices.add(1)
      })
      return WorstCase(neighbour: { _ = store.get(Reference<Part>(1)) }) {
        store.set(Part(id: 0, revision: 1))
      } check: {
        subscription.dispose()
        return notices.take() == 2
      }
    },
    .worst(
      "entities-limit", "a set beyond the limit of n, which evicts a sixteenth",
      greatest: 100_000, wait: 8
    ) { count in
      let store = EntityStore(countLimit: count)
      store.update { $0.setParts(count) }
      return WorstCase(neighbour: { _ = store.get(Reference<Part>(1)) }) {
        store.set(Part(id: count))
      } check: {
        store.count <= count
      }
    },
  ]
}

extension EntityTransaction {
  fileprivate func setParts(_ count: Int, revision: Int = 0) {
    for id in 0..<count { set(Part(id: id, revision: revision * id)) }
  }
}

extension Row {
  /// Returns a row about a transaction on all entities, while others read.
  fileprivate static func update(
    _ name: String, _ summary: String,
    _ make: @escaping (Int) -> (EntityStore, (EntityTransaction) -> Void, () -> Bool)
  ) -> Row {
    worst("entities-\(name)", summary, greatest: 10_000, wait: 8) { count in
      let (store, body, check) = make(count)
      return WorstCase(neighbour: { _ = store.get(Reference<Part>(1)) }) {
        store.update(body)
      } check: {
        check()
      }
    }
  }
}
