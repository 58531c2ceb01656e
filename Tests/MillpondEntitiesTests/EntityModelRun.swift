import MillpondCore
import MillpondEntities
import MillpondSignals
import MillpondTesting

/// Four threads that write at random, and others that observe, some of them for a while.
final class EntityModelRun: Sendable {
  static let ids = 0..<12

  typealias Observing = (id: Int, recorder: Recorder<EntityChange<Thing>>)

  let lasting: [Observing]
  private let seed: UInt64
  private let store = EntityStore()
  private let steps = Locked<[[EntityStep]]>([])
  private let passers = Locked<[Observing]>([])

  init(seed: UInt64) {
    self.seed = seed
    let store = store
    lasting = Self.ids.map { ($0, store.recorder(of: $0)) }
  }

  /// The committed transactions, in order.
  var log: [[EntityStep]] {
    steps.withLock { $0 }
  }

  var passing: [Observing] {
    passers.withLock { $0 }
  }

  func finish() async {
    await withTaskGroup { group in
      for thread in 0..<4 {
        group.addTask { self.write(SeededGenerator(seed: self.seed &* 8 &+ UInt64(thread))) }
      }
      group.addTask { self.observe(SeededGenerator(seed: self.seed &* 8 &+ 7)) }
    }
  }

  private func write(_ generator: SeededGenerator) {
    var random = generator
    for _ in 0..<100 {
      // Mostly few; rarely more than a commit or a collection takes in one step.
      let magnitude = max(2, Int.random(in: -200...11, using: &random))
      let count = Int.random(in: 1...1 << magnitude, using: &random)
      let steps = (0..<count).map { _ in Self.step(&random) }
      let fails = Int.random(in: 0..<5, using: &random) == 0
      let nested = Bool.random(using: &random)
      try? store.update { _ in
        if nested { store.update { _ in carryOut(steps) } } else { carryOut(steps) }
        if fails { throw Refusal() }
        // Transactions are serial, so this is the order of the commits.
        self.steps.withLock { $0.append(steps) }
      }
    }
  }

  private func carryOut(_ steps: [EntityStep]) {
    for step in steps {
      switch step {
      case .set(let thing): store.set(thing)
      case .remove(let id): store.remove(Reference<Thing>(id))
      }
    }
  }

  private func observe(_ generator: SeededGenerator) {
    var random = generator
    var present: [Observing] = []
    for _ in 0..<300 {
      if present.count < 4 {
        let id = Int.random(in: Self.ids, using: &random)
        present.append((id, store.recorder(of: id)))
      } else {
        let gone = present.remove(at: Int.random(in: present.indices, using: &random))
        gone.recorder.dispose()
        passers.withLock { $0.append(gone) }
      }
    }
    for last in present { last.recorder.dispose() }
  }

  private static func step(_ random: inout SeededGenerator) -> EntityStep {
    let id = Int.random(in: ids, using: &random)
    if Int.random(in: 0..<6, using: &random) == 0 { return .remove(id) }
    let links = (0..<Int.random(in: 0...2, using: &random)).map { _ in
      Int.random(in: ids, using: &random)
    }
    return .set(Thing(id, "\(Int.random(in: 0..<3, using: &random))", links: links))
  }
}
