import MillpondEntities
import MillpondSignals

/// Returns the rows about the entity store; an entity has an Int, a String and up to two references.
func entityRows() -> [Row] {
  [
    .entities("get", "a get among 100,000", works: gets),
    .entities("set", "a set without observers, among 100,000", works: sets),
    .entities("notice", "a set, its notice to the observer, and the return") {
      notices(observers: 1, changes: $1)
    },
    .entities("notice-1k", "a notice, if each set sends a thousand") {
      notices(observers: 1_000, changes: $1)
    },
    .entities(
      "touch-3", "an observed transaction of three objects among 100,000", [Target(times: 2)]
    ) { count, changes in
      ([touches(among: count), touches(among: 1_000)], changes / 10)
    },
    .entities(
      "chain-100k", "one node of the path through an observed chain of 100,000", works: chain),
    .entities(
      "query-100k", "a change that moves one entity in a sorted list of 100,000", works: moves),
    .entities("limit-100k", "a set and a get at a limit of 100,000", works: turnsAtLimit),
    Row("entities-bytes", "bytes per entity of 72 bytes", unit: "bytes") { run, sample in
      let count = run.entities
      var (store, plain) = (EntityStore(), [Int: Part]())
      sample.value = SystemReport.growth(per: count) { store = EntityStore(count) }
      let floor = SystemReport.growth(per: count) { plain = plainParts(count) }
      sample.floors = [Sample.Floor(name: "dictionary", value: floor)]
      sample.isSumRight = store.count == plain.count
    },
  ]
}

extension Run {
  fileprivate var entities: Int { count(100_000, quick: 1_000) }
}

extension Row {
  /// - Parameter works: Makes works on so many entities, for so many changes, and the number of
  ///   their operations.
  fileprivate static func entities(
    _ name: String, _ summary: String, _ targets: [Target] = [],
    works: @escaping (_ count: Int, _ changes: Int) -> ([Work], operations: Int)
  ) -> Row {
    Row("entities-\(name)", summary, targets, repetitions: 9) { run in
      works(run.entities, run.count(20_000, quick: 200))
    }
  }
}

// MARK: Entities

/// An entity of the bench: a number, a name and up to two references.
struct Part: Entity {
  let id: Int
  var revision = 0
  var name = "part"
  var first: Reference<Part>?
  var second: Reference<Part>?

  static let relations: [Relation<Part>] = [Relation(\.first), Relation(\.second)]

  /// Returns a part that refers to two others of its hundred.
  static func among(_ count: Int, _ id: Int, revision: Int = 0) -> Part {
    let base = id - id % 100
    return Part(
      id: id, revision: revision, first: Reference(min(count - 1, base + (id * 7 + 1) % 100)),
      second: Reference(min(count - 1, base + (id * 13 + 5) % 100)))
  }
}

extension EntityStore {
  /// Makes a store of `count` parts.
  ///
  /// - Parameter part: Makes the part of a number; nil for one that refers to two others.
  convenience init(_ count: Int, _ part: ((Int) -> Part)? = nil) {
    self.init()
    update { parts in
      for id in 0..<count { parts.set(part?(id) ?? .among(count, id)) }
    }
  }

  /// Observes the first part, and returns the number of notices from now on.
  func noticesOfFirst() -> Sum {
    let notices = Sum()
    signal(of: Reference<Part>(0)).subscribe(onNext: { _ in notices.add(1) })
    _ = notices.take()
    return notices
  }
}

private func plainParts(_ count: Int) -> [Int: Part] {
  Dictionary(uniqueKeysWithValues: (0..<count).map { ($0, .among(count, $0)) })
}

/// Returns a number below `count`; successive indices give the numbers in disorder.
private func disorder(_ index: Int, _ count: Int) -> Int {
  Int(UInt(truncatingIfNeeded: index &* 0x9E37_79B9) % UInt(count))
}

// MARK: Works

private func gets(_ count: Int, _ changes: Int) -> ([Work], operations: Int) {
  let store = EntityStore(count)
  let plain = Locked(plainParts(count))
  let expected: @Sendable (Int) -> Int = { (0..<$0).reduce(0) { $0 + disorder($1, count) } }
  let ours = Work(expected: expected) { operations in
    (0..<operations).reduce(0) { sum, index in
      sum + (store.get(Reference<Part>(disorder(index, count)))?.id ?? 0)
    }
  }
  let other = Work("dictionary", expected: expected) { operations in
    (0..<operations).reduce(0) { sum, index in
      sum + (plain.withLock { $0[disorder(index, count)] }?.id ?? 0)
    }
  }
  return ([ours, other], changes)
}

private func sets(_ count: Int, _ changes: Int) -> ([Work], operations: Int) {
  let store = EntityStore(count)
  let plain = Locked(plainParts(count))
  let round = Kept(0)
  let ours = Work(expected: { _ in count + round.value }) { operations in
    round.value += 1
    for index in 0..<operations {
      store.set(Part.among(count, disorder(index, count), revision: round.value))
    }
    let last = Reference<Part>(disorder(operations - 1, count))
    return store.count + (store.get(last)?.revision ?? 0)
  }
  let other = Work("dictionary") { operations in
    for index in 0..<operations {
      let part = Part.among(count, disorder(index, count), revision: operations)
      plain.discard { $0.updateValue(part, forKey: part.id) }
    }
    return operations
  }
  return ([ours, other], changes)
}

private func notices(observers: Int, changes: Int) -> ([Work], operations: Int) {
  let store = EntityStore()
  let sum = Sum()
  for _ in 0..<observers {
    store.signal(of: Reference<Part>(0)).subscribe(onNext: { sum.add($0.value?.revision ?? 0) })
  }
  let sets = max(1, changes / observers)
  let first = Kept(0)
  let notices = Work(expected: { _ in observers * (sets * first.value + triangle(sets)) }) { _ in
    first.value += sets
    for revision in first.value..<first.value + sets { store.set(Part(id: 0, revision: revision)) }
    return sum.take()
  }
  return ([notices], sets * observers)
}

/// Returns transactions of the same three objects, near an observed one, among others.
private func touches(among count: Int) -> Work {
  let store = EntityStore(count)
  let notices = store.noticesOfFirst()
  return Work("1,000") { transactions in
    for revision in 1...transactions {
      store.update { parts in
        for id in [0, 1, 5] { parts.set(Part.among(count, id, revision: revision)) }
      }
    }
    return notices.take()
  }
}

private func chain(_ length: Int, _ changes: Int) -> ([Work], operations: Int) {
  let store = EntityStore(length) { Part(id: $0, first: Reference($0 + 1)) }
  let notices = store.noticesOfFirst()
  let round = Kept(0)
  let change = Work(expected: { _ in 1 }) { _ in
    round.value += 1
    store.set(Part(id: length, revision: round.value))
    return notices.take()
  }
  return ([change], length)
}

private func moves(_ count: Int, _ changes: Int) -> ([Work], operations: Int) {
  let store = EntityStore(count)
  let query = store.query(Part.self, by: { ($0.revision, $0.id) < ($1.revision, $1.id) })
  let steps = Sum()
  query.changes.subscribe(onNext: { steps.add($0.count) })
  _ = steps.take()
  let revision = Kept(0)
  let moves = Work { changes in
    for index in 0..<changes {
      revision.value += 1
      store.set(Part.among(count, disorder(index, count), revision: revision.value))
    }
    return steps.take()
  }
  return ([moves], changes / 20)
}

private func turnsAtLimit(_ limit: Int, _ changes: Int) -> ([Work], operations: Int) {
  let store = EntityStore(countLimit: limit)
  let last = Kept(0)
  let turns = Work(expected: { _ in limit }) { operations in
    for index in 0..<operations {
      last.value += 1
      store.set(Part.among(last.value + 1, last.value))
      _ = store.get(Reference<Part>(last.value - disorder(index, limit)))
    }
    return max(limit, store.count)
  }
  _ = try? turns.run(limit)
  return ([turns], changes)
}
