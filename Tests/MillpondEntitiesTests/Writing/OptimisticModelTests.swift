import MillpondCore
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

@testable import MillpondEntities

/// Random programs of ordinary and optimistic writes, and of their outcomes in any order, beside a
/// plain model.
@Suite struct OptimisticModelTests {
  @Test(arguments: 0..<30)
  func `after any writes and confirmations the store is as the model says`(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    let run = OptimisticRun()
    for _ in 0..<200 { run.step(&random) }
    while run.settleAny(&random) {}

    #expect(run.store.isSettled)
    #expect(run.failures.isEmpty, "\(run.failures.prefix(3))")
  }

  @Test(.heavy, arguments: 0..<6)
  func `of writes and outcomes of several threads nothing waits at the end`(seed: Int) async {
    let store = EntityStore()
    let ids = 0..<4
    let recorders = ids.map { store.recorder(of: $0) }
    await withTaskGroup { group in
      for thread in 0..<4 {
        group.addTask {
          var random = SeededGenerator(seed: UInt64(seed * 8 + thread))
          var requests: [PublishSubject<Void>] = []
          for round in 0..<300 {
            let id = Int.random(in: ids, using: &random)
            let thing = Thing(id, "\(thread) \(round)", links: [(id + 1) % 4])
            switch Int.random(in: 0..<5, using: &random) {
            case 0: store.set(thing)
            case 1: store.remove(thing.reference)
            default:
              let request = PublishSubject<Void>()
              requests.append(request)
              store.set(thing, confirmedBy: request.signal)
            }
            if Bool.random(using: &random), let request = requests.randomElement(using: &random) {
              if Bool.random(using: &random) {
                request.completed()
              } else {
                request.failed(Refusal())
              }
            }
          }
          for request in requests { request.failed(Refusal()) }
        }
      }
    }

    for (id, recorder) in zip(ids, recorders) {
      #expect(recorder.violations.isEmpty)
      #expect(recorder.values.last?.value == store.get(Reference<Thing>(id)))
    }
    #expect(store.isSettled)
  }
}

/// The model: for each identity the confirmed value, and the optimistic ones above it.
private struct OptimisticModel {
  var confirmed: [Int: Thing] = [:]
  var waiting: [Int: [(write: Int, value: Thing?)]] = [:]

  func visible(_ id: Int) -> Thing? {
    if let last = waiting[id]?.last { return last.value }
    return confirmed[id]
  }

  mutating func write(_ id: Int, _ value: Thing?) {
    confirmed[id] = value
    waiting[id] = nil
  }

  mutating func writeOptimistically(_ id: Int, _ value: Thing?, _ write: Int) {
    waiting[id, default: []].removeAll { $0.write == write }
    waiting[id, default: []].append((write, value))
  }

  mutating func settle(_ write: Int, isConfirmed: Bool, _ answer: Thing?) {
    for id in waiting.keys {
      guard let place = waiting[id]?.firstIndex(where: { $0.write == write }) else { continue }
      if isConfirmed {
        confirmed[id] = answer?.id == id ? answer : waiting[id]?[place].value
        waiting[id]?.removeSubrange(...place)
      } else {
        waiting[id]?.remove(at: place)
      }
      if waiting[id]?.isEmpty == true { waiting[id] = nil }
    }
  }
}

private final class OptimisticRun {
  static let ids = 0..<6

  let store = EntityStore()
  private var model = OptimisticModel()
  private var requests: [Int: PublishSubject<Thing>] = [:]
  private var lastWrite = 0
  private var copy: [Int: Thing] = [:]
  private let observed: [Recorder<EntityChange<Thing>>]
  private let list: Recorder<[Thing]>
  private let edits: Recorder<[TableEdit<Thing>]>
  private(set) var failures: [String] = []

  init() {
    let store = store
    observed = Self.ids.map { store.recorder(of: $0) }
    list = Recorder().subscribe(to: store.query(Thing.self, by: { $0.id < $1.id }).values)
    edits = Recorder().subscribe(to: store.edits(of: Thing.self))
  }

  func step(_ random: inout SeededGenerator) {
    let former = model
    var action = ""
    switch Int.random(in: 0..<12, using: &random) {
    case 0...1:
      let thing = thing(&random)
      action = "set \(thing.id)"
      store.set(thing)
      model.write(thing.id, thing)
    case 2:
      let id = Int.random(in: Self.ids, using: &random)
      action = "remove \(id)"
      store.remove(Reference<Thing>(id))
      model.write(id, nil)
    case 3:
      action = "fill"
      let thing = thing(&random)
      store.core.fill(thing, FillToken())
      model.confirmed[thing.id] = thing
    case 4:
      action = "late write"
      let thing = thing(&random)
      store.core.arrive(thing.reference, Revision.next(), .set(thing))
      model.write(thing.id, thing)
    case 5...8: action = writeOptimistically(&random)
    case 9:
      guard Int.random(in: 0..<8, using: &random) == 0 else { return }
      action = "remove all"
      store.removeAll(of: Thing.self)
      model = OptimisticModel()
    default:
      action = "settle"
      _ = settleAny(&random, checks: false)
    }
    check(action, former)
  }

  private func writeOptimistically(_ random: inout SeededGenerator) -> String {
    lastWrite += 1
    let write = lastWrite
    let request = PublishSubject<Thing>()
    let count = Int.random(in: 1...3, using: &random)
    var steps: [(id: Int, value: Thing?)] = []
    for _ in 0..<count {
      let thing = thing(&random)
      steps.append((thing.id, Int.random(in: 0..<4, using: &random) == 0 ? nil : thing))
    }
    // Some are ordinary writes of a transaction around them; some are undone.
    let isInner = Int.random(in: 0..<4, using: &random) == 0
    let isUndone = Int.random(in: 0..<6, using: &random) == 0
    let outer = thing(&random)
    let run = {
      if steps.count == 1, let value = steps[0].value {
        self.store.set(value, confirmedBy: request.signal)
      } else if steps.count == 1 {
        self.store.remove(Reference<Thing>(steps[0].id), confirmedBy: request.signal)
      } else {
        self.store.update(confirmedBy: request.signal) { things in
          for (id, value) in steps {
            if let value { things.set(value) } else { things.remove(Reference<Thing>(id)) }
          }
        }
      }
    }
    try? store.update { things throws(Refusal) in
      if isInner { things.set(outer) }
      _ = run()
      if isUndone { throw Refusal() }
    }
    if !isUndone {
      if isInner { model.write(outer.id, outer) }
      for (id, value) in steps { model.writeOptimistically(id, value, write) }
      requests[write] = request
    }
    return "optimistic \(write): \(steps.map(\.id)), inner \(isInner), undone \(isUndone)"
  }

  /// Settles one of the requests; returns false if none waits.
  func settleAny(_ random: inout SeededGenerator, checks: Bool = true) -> Bool {
    let former = model
    guard let write = requests.keys.sorted().randomElement(using: &random),
      let request = requests.removeValue(forKey: write)
    else { return false }
    if Bool.random(using: &random) {
      // Only a single set takes the answer.
      request.completed()
      model.settle(write, isConfirmed: true, nil)
    } else {
      request.failed(Refusal())
      model.settle(write, isConfirmed: false, nil)
    }
    if checks { check("settle \(write)", former) }
    return true
  }

  private func check(_ action: String, _ former: OptimisticModel) {
    for edit in edits.values.joined() { copy[edit.id] = edit.value }
    let visible = Self.ids.compactMap { model.visible($0) }
    for id in Self.ids {
      expect(store.get(Reference<Thing>(id)) == model.visible(id), "\(action): value of \(id)")
      expect(observed[id].values.last?.value == model.visible(id), "\(action): notice of \(id)")
      expect(copy[id] == model.confirmed[id], "\(action): copy of \(id)")
    }
    expect(list.values.last == visible, "\(action): list")
    expect(store.count == visible.count, "\(action): count")
    let changed = Self.ids.contains { former.visible($0) != model.visible($0) }
    expect(listCount(changed), "\(action): number of lists")
  }

  private var lists = 1

  /// Returns whether the list was sent once if anything has changed, and not otherwise.
  private func listCount(_ hasChanged: Bool) -> Bool {
    if hasChanged { lists += 1 }
    return list.values.count == lists
  }

  private func expect(_ isTrue: Bool, _ failure: String) {
    if !isTrue { failures.append(failure) }
  }

  private func thing(_ random: inout SeededGenerator) -> Thing {
    Thing(
      Int.random(in: Self.ids, using: &random), "\(Int.random(in: 0..<4, using: &random))",
      links: [Int.random(in: Self.ids, using: &random)])
  }
}
