import MillpondEntities
import MillpondSignals

/// Returns the rows about the entity store; an entity has an Int, a String and up to two references.
func entityRows() -> [Row] {
  [
    Row("entities-get", "a get among 100,000", measure: measureGet),
    Row("entities-set", "a set without observers, among 100,000", measure: measureSet),
    Row("entities-notice", "a set, its notice to the observer, and the return") {
      try measureNotices($0, &$1, observers: 1)
    },
    Row("entities-notice-1k", "a notice, if each set sends a thousand") {
      try measureNotices($0, &$1, observers: 1_000)
    },
    Row(
      "entities-touch-3", "an observed transaction of three objects among 100,000",
      [Target(times: 2)], measure: measureTouch),
    Row(
      "entities-chain-100k", "one node of the path through an observed chain of 100,000",
      measure: measureChain),
    Row(
      "entities-query-100k", "a change that moves one entity in a sorted list of 100,000",
      measure: measureQuery),
    Row(
      "entities-limit-100k", "a set and a get at a limit of 100,000", measure: measureLimit),
    Row(
      "entities-bytes", "bytes per entity of 72 bytes", unit: "bytes", measure: measureBytes),
  ]
}

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
  convenience init(_ count: Int, _ part: (Int) -> Part) {
    self.init()
    update { parts in
      for id in 0..<count { parts.set(part(id)) }
    }
  }
}

extension Run {
  fileprivate var entities: Int { count(100_000, quick: 1_000) }
  fileprivate var changes: Int { count(20_000, quick: 200) }
}

extension Sample {
  /// Measures works on entities, so many operations each.
  fileprivate mutating func measure(_ run: Run, _ works: [Work], _ operations: Int) throws {
    try measure(works.map { ($0, operations) }, repetitions: run.count(9, quick: 2))
  }
}

/// Returns a number below `count`; successive indices give the numbers in disorder.
private func disorder(_ index: Int, _ count: Int) -> Int {
  Int(UInt(truncatingIfNeeded: index &* 0x9E37_79B9) % UInt(count))
}

private func plainParts(_ count: Int) -> [Int: Part] {
  Dictionary(uniqueKeysWithValues: (0..<count).map { ($0, .among(count, $0)) })
}

private func measureGet(_ run: Run, _ sample: inout Sample) throws {
  let count = run.entities
  let store = EntityStore(count) { .among(count, $0) }
  let plain = Locked(plainParts(count))
  let expected: @Sendable (Int) -> Int = { operations in
    (0..<operations).reduce(0) { $0 + disorder($1, count) }
  }
  let ours = Work(expected: expected) { operations in
    var sum = 0
    for index in 0..<operations {
      sum += store.get(Reference<Part>(disorder(index, count)))?.id ?? 0
    }
    return sum
  }
  let other = Work("dictionary", expected: expected) { operations in
    var sum = 0
    for index in 0..<operations {
      sum += plain.withLock { $0[disorder(index, count)] }?.id ?? 0
    }
    return sum
  }
  try sample.measure(run, [ours, other], run.changes)
}

private func measureSet(_ run: Run, _ sample: inout Sample) throws {
  let count = run.entities
  let store = EntityStore(count) { .among(count, $0) }
  let plain = Locked(plainParts(count))
  let round = Kept(0)
  let prepare: @Sendable () -> Void = { round.value += 1 }
  let ours = Work(
    expected: { _ in store.count + round.value }, prepare: prepare
  ) { operations in
    let revision = round.value
    for index in 0..<operations {
      store.set(Part.among(count, disorder(index, count), revision: revision))
    }
    let last = Reference<Part>(disorder(operations - 1, count))
    return count + (store.get(last)?.revision ?? 0)
  }
  let other = Work("dictionary", expected: { $0 }, prepare: prepare) { operations in
    let revision = round.value
    for index in 0..<operations {
      let part = Part.among(count, disorder(index, count), revision: revision)
      let old = plain.withLock { $0.updateValue(part, forKey: part.id) }
      _ = old
    }
    return operations
  }
  try sample.measure(run, [ours, other], run.changes)
}

private func measureNotices(_ run: Run, _ sample: inout Sample, observers: Int) throws {
  let store = EntityStore()
  let sum = Sum()
  let subscriptions = (0..<observers).map { _ in
    store.signal(of: Reference<Part>(0)).subscribe(onNext: { sum.add($0.value?.revision ?? 0) })
  }
  let sets = max(1, run.changes / observers)
  let (round, numbers) = (Kept(0), triangle(sets))
  let expected: @Sendable (Int) -> Int = { _ in
    observers * (sets * sets * round.value + numbers)
  }
  let notices = Work(expected: expected, prepare: { round.value += 1 }) { _ in
    let first = sets * round.value
    for revision in first..<first + sets { store.set(Part(id: 0, revision: revision)) }
    return sum.take()
  }
  try sample.measure(run, [notices], sets * observers)
  for subscription in subscriptions { subscription.dispose() }
}

/// Measures the same three objects each time, near an observed one, among different numbers of
/// others.
private func measureTouch(_ run: Run, _ sample: inout Sample) throws {
  let works = [run.entities, 1_000].map { (count: Int) -> Work in
    let store = EntityStore(count) { .among(count, $0) }
    let notices = Sum()
    let subscription = store.signal(of: Reference<Part>(0)).subscribe(onNext: { _ in
      notices.add(1)
    })
    _ = notices.take()
    return Work("1,000", expected: { $0 }) { transactions in
      for revision in 1...transactions {
        store.update { parts in
          for id in [0, 1, 5] { parts.set(Part.among(count, id, revision: revision)) }
        }
      }
      return withExtendedLifetime(subscription) { notices.take() }
    }
  }
  try sample.measure(run, works, run.changes / 10)
}

private func measureChain(_ run: Run, _ sample: inout Sample) throws {
  let length = run.entities
  let store = EntityStore(length) { Part(id: $0, first: Reference($0 + 1)) }
  let notices = Sum()
  let subscription = store.signal(of: Reference<Part>(0)).subscribe(onNext: { _ in notices.add(1) })
  _ = notices.take()
  let round = Kept(0)
  let change = Work(expected: { _ in 1 }, prepare: { round.value += 1 }) { _ in
    store.set(Part(id: length, revision: round.value))
    return notices.take()
  }
  try sample.measure(run, [change], length)
  subscription.dispose()
}

private func measureQuery(_ run: Run, _ sample: inout Sample) throws {
  let count = run.entities
  let store = EntityStore(count) { .among(count, $0) }
  let query = store.query(Part.self, by: { ($0.revision, $0.id) < ($1.revision, $1.id) })
  let steps = Sum()
  let subscription = query.changes.subscribe(onNext: { steps.add($0.count) })
  _ = steps.take()
  let round = Kept(0)
  let moves = Work(expected: { $0 }, prepare: { round.value += 1 }) { changes in
    let revision = round.value
    for index in 0..<changes {
      store.set(Part.among(count, disorder(index, count), revision: revision * changes + index))
    }
    return steps.take()
  }
  try sample.measure(run, [moves], run.changes / 20)
  subscription.dispose()
}

private func measureLimit(_ run: Run, _ sample: inout Sample) throws {
  let limit = run.entities
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
  _ = try turns.run(limit)
  try sample.measure(run, [turns], run.changes)
}

private func measureBytes(_ run: Run, _ sample: inout Sample) {
  let count = run.entities
  let before = SystemReport.heapBytes
  let store = EntityStore(count) { .among(count, $0) }
  let between = SystemReport.heapBytes
  let plain = plainParts(count)
  let after = SystemReport.heapBytes
  func share(_ start: Int?, _ end: Int?) -> Double? {
    start.flatMap { start in end.map { Double($0 - start) / Double(count) } }
  }
  sample.value = share(before, between)
  sample.floors = [Sample.Floor(name: "dictionary", value: share(between, after))]
  sample.isSumRight = store.count == plain.count
}
