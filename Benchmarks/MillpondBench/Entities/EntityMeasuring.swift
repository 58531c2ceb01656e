import Foundation
import Millpond
import MillpondEntities

/// An entity of the bench: a number, a name and up to two references.
struct Part: Entity {
  let id: Int
  var revision = 0
  var name = "part"
  var first: Reference<Part>?
  var second: Reference<Part>?

  static let relations: [Relation<Part>] = [Relation(\.first), Relation(\.second)]
}

extension EntityEffort {
  /// Nanoseconds of one of `operations`, the best of several repetitions.
  fileprivate func best(_ operations: Int, _ body: () -> Void) -> Double {
    var best = Double.infinity
    for _ in 0..<repetitions {
      let start = ContinuousClock.now
      body()
      best = min(best, start.duration(to: .now) / .nanoseconds(1) / Double(operations))
    }
    return best
  }
}

/// Returns a store of `count` parts, each of which refers to two others of its hundred.
private func filled(_ count: Int) -> EntityStore {
  let store = EntityStore()
  store.update { parts in
    for id in 0..<count { parts.set(part(id, count)) }
  }
  return store
}

private func part(_ id: Int, _ count: Int, revision: Int = 0) -> Part {
  let base = id - id % 100
  return Part(
    id: id, revision: revision, first: Reference(min(count - 1, base + (id * 7 + 1) % 100)),
    second: Reference(min(count - 1, base + (id * 13 + 5) % 100)))
}

/// Returns a number below `count`; successive indices give the numbers in disorder.
private func disorder(_ index: Int, _ count: Int) -> Int {
  Int(UInt(truncatingIfNeeded: index &* 0x9E37_79B9) % UInt(count))
}

func measureGet(_ effort: EntityEffort) -> EntityFigures {
  let count = 100_000 / effort.divisor
  let store = filled(count)
  let plain = Locked(Dictionary(uniqueKeysWithValues: (0..<count).map { ($0, part($0, count)) }))
  var sums = (0, 0)
  let ours = effort.best(effort.operations) {
    for index in 0..<effort.operations {
      sums.0 += store.get(Reference<Part>(disorder(index, count)))?.id ?? 0
    }
  }
  let other = effort.best(effort.operations) {
    for index in 0..<effort.operations {
      sums.1 += plain.withLock { $0[disorder(index, count)] }?.id ?? 0
    }
  }
  return EntityFigures(ours: ours, other: other, isSumRight: sums.0 == sums.1)
}

func measureSet(_ effort: EntityEffort) -> EntityFigures {
  let count = 100_000 / effort.divisor
  let store = filled(count)
  let plain = Locked(Dictionary(uniqueKeysWithValues: (0..<count).map { ($0, part($0, count)) }))
  var revision = 0
  let ours = effort.best(effort.operations) {
    for index in 0..<effort.operations {
      revision += 1
      store.set(part(disorder(index, count), count, revision: revision))
    }
  }
  let last = disorder(effort.operations - 1, count)
  let isSumRight = store.get(Reference<Part>(last))?.revision == revision && store.count == count
  let other = effort.best(effort.operations) {
    for index in 0..<effort.operations {
      revision += 1
      let id = disorder(index, count)
      let old = plain.withLock { $0.updateValue(part(id, count, revision: revision), forKey: id) }
      _ = old
    }
  }
  return EntityFigures(ours: ours, other: other, isSumRight: isSumRight)
}

func measureSetByTwo(_ effort: EntityEffort) -> EntityFigures {
  let count = 100_000 / effort.divisor
  let store = filled(count)
  let half = effort.operations / 2
  let revision = Locked(0)
  func sets(by threads: Int) -> Double {
    effort.best(half * threads) {
      let round = revision.withLock { revision in
        revision += 1
        return revision
      }
      DispatchQueue.concurrentPerform(iterations: threads) { thread in
        for index in 0..<half {
          store.set(part(disorder(index * 2 + thread, count), count, revision: round))
        }
      }
    }
  }
  let other = sets(by: 1)
  let ours = sets(by: 2)
  return EntityFigures(ours: ours, other: other, isSumRight: store.count == count)
}

func measureNotice(_ effort: EntityEffort) -> EntityFigures {
  notices(effort, observers: 1)
}

func measureManyNotices(_ effort: EntityEffort) -> EntityFigures {
  notices(effort, observers: 1_000)
}

private func notices(_ effort: EntityEffort, observers: Int) -> EntityFigures {
  let store = EntityStore()
  let sum = Sum()
  let subscriptions = (0..<observers).map { _ in
    store.signal(of: Reference<Part>(0)).subscribe(onNext: { sum.add($0.value?.revision ?? 0) })
  }
  let sets = max(1, effort.operations / observers)
  var (revision, expected) = (0, 0)
  let ours = effort.best(sets * observers) {
    for _ in 0..<sets {
      revision += 1
      expected += revision * observers
      store.set(Part(id: 0, revision: revision))
    }
  }
  for subscription in subscriptions { subscription.dispose() }
  return EntityFigures(ours: ours, isSumRight: sum.take() == expected)
}

func measureTouch(_ effort: EntityEffort) -> EntityFigures {
  let (small, smallIsRight) = touch(effort, among: 1_000)
  let (large, largeIsRight) = touch(effort, among: 1_000_000 / effort.divisor)
  return EntityFigures(ours: large, other: small, isSumRight: smallIsRight && largeIsRight)
}

/// Measures the same three objects each time, near an observed one, among different numbers of
/// others.
private func touch(_ effort: EntityEffort, among count: Int) -> (time: Double, isRight: Bool) {
  let store = filled(count)
  let notices = Sum()
  let subscription = store.signal(of: Reference<Part>(0)).subscribe(onNext: { _ in notices.add(1) })
  _ = notices.take()
  let transactions = effort.operations / 10
  var revision = 0
  let time = effort.best(transactions) {
    for _ in 0..<transactions {
      revision += 1
      store.update { parts in
        for id in [0, 1, 5] { parts.set(part(id, count, revision: revision)) }
      }
    }
  }
  subscription.dispose()
  return (time, notices.take() == revision)
}

func measureChain(_ effort: EntityEffort) -> EntityFigures {
  let length = 100_000 / effort.divisor
  let store = EntityStore()
  store.update { parts in
    for id in 0..<length { parts.set(Part(id: id, first: Reference(id + 1))) }
  }
  let notices = Sum()
  let subscription = store.signal(of: Reference<Part>(0)).subscribe(onNext: { _ in notices.add(1) })
  _ = notices.take()
  var revision = 0
  let ours = effort.best(length) {
    revision += 1
    store.set(Part(id: length, revision: revision))
  }
  subscription.dispose()
  return EntityFigures(ours: ours, isSumRight: notices.take() == effort.repetitions)
}

func measureQuery(_ effort: EntityEffort) -> EntityFigures {
  let count = 100_000 / effort.divisor
  let store = filled(count)
  let query = store.query(Part.self, by: { ($0.revision, $0.id) < ($1.revision, $1.id) })
  let steps = Sum()
  let subscription = query.changes.subscribe(onNext: { steps.add($0.count) })
  _ = steps.take()
  let changes = effort.operations / 20
  var revision = 0
  let ours = effort.best(changes) {
    for index in 0..<changes {
      revision += 1
      store.set(part(disorder(index, count), count, revision: revision))
    }
  }
  subscription.dispose()
  return EntityFigures(ours: ours, isSumRight: steps.take() == revision)
}

func measurePrune(_ effort: EntityEffort) -> EntityFigures {
  let length = 100_000 / effort.divisor
  let store = EntityStore()
  store.update { parts in
    for id in 0..<length { parts.set(Part(id: id, first: Reference(id + 1))) }
  }
  let kept = store.retain(Reference<Part>(0))
  let stays = effort.best(length) { store.prune() }
  let isKept = store.count == length
  kept.dispose()
  let start = ContinuousClock.now
  store.prune()
  let goes = start.duration(to: .now) / .nanoseconds(1) / Double(length)
  return EntityFigures(ours: stays, other: goes, isSumRight: isKept && store.count == 0)
}

func measureLimit(_ effort: EntityEffort) -> EntityFigures {
  let limit = 100_000 / effort.divisor
  let store = EntityStore(countLimit: limit)
  store.update { parts in
    for id in 0..<limit { parts.set(part(id, limit)) }
  }
  var id = limit
  func setNext() {
    id += 1
    store.set(part(id, id))
  }
  let ours = effort.best(effort.operations) {
    for index in 0..<effort.operations {
      setNext()
      _ = store.get(Reference<Part>(id - disorder(index, limit)))
    }
  }
  var (longest, isSumRight) = (Double.infinity, true)
  for _ in 0..<effort.repetitions {
    var longestHere = 0.0
    for index in 0..<limit {
      let start = threadSeconds()
      setNext()
      longestHere = max(longestHere, threadSeconds() - start)
      _ = store.get(Reference<Part>(id - disorder(index, limit)))
      if store.count > limit { isSumRight = false }
    }
    longest = min(longest, longestHere)
  }
  return EntityFigures(ours: ours, other: longest * 1_000_000_000, isSumRight: isSumRight)
}

func measureBytes(_ effort: EntityEffort) -> EntityFigures {
  let count = 100_000 / effort.divisor
  let before = heapUse()
  let store = filled(count)
  let between = heapUse()
  let plain = Dictionary(uniqueKeysWithValues: (0..<count).map { ($0, part($0, count)) })
  let after = heapUse()
  let isSumRight = store.count == plain.count
  func share(_ start: Int?, _ end: Int?) -> Double? {
    start.flatMap { start in end.map { Double($0 - start) / Double(count) } }
  }
  return EntityFigures(
    ours: share(before, between), other: share(between, after), isSumRight: isSumRight)
}
