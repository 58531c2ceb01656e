import MillpondCore
import MillpondEntities
import MillpondSignals
import MillpondTesting
import Testing

/// Observers of entities see the last value last, whatever is written and removed meanwhile.
@Suite(.schedules) struct EntityScheduleTests {
  /// An entity that is a number.
  private struct Number: Entity {
    let id: Int
    var value: Int
  }

  private let one = Reference<Number>(1)

  /// The values of an entity; -1 while it is absent.
  private func values(_ store: EntityStore) -> Signal<Int> {
    store.signal(of: one).map { $0.value?.value ?? -1 }
  }

  /// Checks that the last value that was observed is the stored one.
  private func agree(_ seen: Witness<Int>, _ store: EntityStore, _ program: ScheduleProgram) {
    program.whenQuiet { [one] in
      let value = store.get(one)?.value ?? -1
      if seen.values.last != value { return "\(value) is stored, seen: \(seen.values)" }
      return seen.complaint(mustEnd: false)
    }
  }

  private func add(_ store: EntityStore) {
    store.update { transaction in
      let value = transaction.get(one)?.value ?? 0
      transaction.set(Number(id: 1, value: value + 1))
    }
  }

  @Test func `two updates of one entity, and an observer`() {
    expectNoFault { program in
      let (store, seen) = (EntityStore(clock: ManualClock()), Witness<Int>())
      store.set(Number(id: 1, value: 0))
      for _ in 0..<2 { program.thread(["adds": { add(store) }]) }
      program.thread(["observes": { seen.watch(values(store)) }])
      agree(seen, store, program)
      program.whenQuiet {
        if store.get(one)?.value != 2 { return "an update is lost" }
        return seen.values == seen.values.sorted() ? nil : "seen: \(seen.values)"
      }
    }
  }

  @Test func `a removal and a set beside an observer`() {
    expectNoFault { program in
      let (store, seen, order) = (EntityStore(clock: ManualClock()), Witness<Int>(), CallOrder())
      store.set(Number(id: 1, value: 1))
      program.thread(["removes": { order.call("remove") { store.remove(one) } }])
      program.thread([
        "sets 2": { order.call("set") { store.set(Number(id: 1, value: 2)) } }
      ])
      program.thread(["observes": { seen.watch(values(store)) }])
      agree(seen, store, program)
      program.whenQuiet {
        let value = store.get(one)?.value
        if order.isBefore("set", "remove"), value != nil { return "\(value ?? 0) is stored" }
        return order.isBefore("remove", "set") && value != 2 ? "the set is lost" : nil
      }
    }
  }

  @Test func `a removal of everything beside an observer`() {
    expectNoFault { program in
      let (store, seen, order) = (EntityStore(clock: ManualClock()), Witness<Int>(), CallOrder())
      program.thread([
        "sets 1": { order.call("set") { store.set(Number(id: 1, value: 1)) } }
      ])
      program.thread(["removes all": { order.call("remove") { store.removeAll() } }])
      program.thread(["observes": { seen.watch(values(store)) }])
      agree(seen, store, program)
      program.whenQuiet {
        order.isBefore("set", "remove") && store.get(one) != nil ? "1 is stored" : nil
      }
    }
  }

  @Test func `an eviction beside an observer`() {
    expectNoFault(.brief) { program in
      let store = EntityStore(countLimit: 1, clock: ManualClock())
      let seen = Witness<Int>()
      store.set(Number(id: 1, value: 1))
      program.thread(["sets another": { store.set(Number(id: 2, value: 2)) }])
      program.thread(["observes": { seen.watch(values(store)) }])
      program.thread(["sets 7": { store.set(Number(id: 1, value: 7)) }])
      agree(seen, store, program)
    }
  }

  @Test func `an observer that leaves during an update`() {
    expectNoFault(.brief) { program in
      let (store, seen) = (EntityStore(clock: ManualClock()), Witness<Int>())
      store.set(Number(id: 1, value: 0))
      program.thread(["observes": { seen.watch(values(store)) }, "leaves": { seen.leave() }])
      program.thread(["adds": { add(store) }])
      program.whenQuiet {
        store.get(one)?.value == 1 ? seen.complaint(mustEnd: false) : "an update is lost"
      }
    }
  }

  /// An edit before the answer of its request, beside another write: what is stored at last.
  private func edit(
    location: SourceLocation = #_sourceLocation, refused isRefused: Bool, expected: Set<Int>,
    _ write: @escaping (EntityStore) -> Void
  ) {
    expectNoFault(.brief, location: location) { [one] program in
      let (store, seen) = (EntityStore(clock: ManualClock()), Witness<Int>())
      let (request, outcome) = (PublishSubject<Void>(), Witness<Void>())
      store.set(Number(id: 1, value: 1))
      seen.watch(values(store))
      program.thread([
        "edits": {
          outcome.watch(
            store.edit(one, confirmedBy: request.signal) { (number: inout Number) in
              number.value += 10
            })
        },
        "answers": {
          if isRefused { request.failed(OriginError()) } else { request.completed() }
        },
      ])
      program.thread(["writes": { write(store) }])
      agree(seen, store, program)
      program.whenQuiet {
        let value = store.get(one)?.value ?? -1
        return expected.contains(value) ? outcome.complaint() : "\(value) is stored"
      }
    }
  }

  @Test func `an edit that is refused beside a set`() {
    edit(refused: true, expected: [2]) { $0.set(Number(id: 1, value: 2)) }
  }

  @Test func `an edit that is confirmed beside an update`() {
    edit(refused: false, expected: [12]) { [self] in add($0) }
  }

  @Test func `an edit that is refused beside an update`() {
    // An update of the edited value is a later write, and stays.
    edit(refused: true, expected: [2, 12]) { [self] in add($0) }
  }

  @Test func `an edit that is refused beside a removal`() {
    edit(refused: true, expected: [-1]) { [one] in $0.remove(one) }
  }

  @Test func `two edits of which one is refused`() {
    edit(refused: true, expected: [101]) { [one] store in
      store.edit(one, confirmedBy: Signal<Void>.just(())) { (number: inout Number) in
        number.value += 100
      }.subscribe()
    }
  }

  @Test func `an edit beside the answer of a fetch`() {
    expectNoFault(.brief) { program in
      let (store, origin) = (EntityStore(clock: ManualClock()), ProgramOrigin(5))
      let source = FunctionSource<Int, Number>.signal { id in
        origin.get("\(id)").map { Number(id: id, value: $0) }
      }.through(store)
      let (got, seen, request) = (Witness<Int>(), Witness<Int>(), PublishSubject<Void>())
      store.set(Number(id: 1, value: 1))
      seen.watch(values(store))
      program.thread([
        "gets": { got.watch(source.get(1).map(\.value)) }, "answers": { origin.answer() },
      ])
      program.thread([
        "edits": {
          store.edit(one, confirmedBy: request.signal) { (number: inout Number) in
            number.value += 10
          }.subscribe(onFailed: { _ in })
        },
        "refuses": { request.failed(OriginError()) },
      ])
      agree(seen, store, program)
      program.whenQuiet {
        let value = store.get(one)?.value ?? -1
        if value > 5 { return "\(value) is stored: the refused edit stays" }
        if got.values.last != value, got.end == nil {
          return "\(value) is stored, got \(got.values)"
        }
        return got.complaint(mustEnd: false)
      }
    }
  }

  @Test func `a set beside the answer of a fetch`() {
    expectNoFault { program in
      let (store, origin, order) = (
        EntityStore(clock: ManualClock()), ProgramOrigin(5), CallOrder()
      )
      let source = FunctionSource<Int, Number>.signal { id in
        origin.get("\(id)").map { Number(id: id, value: $0) }
      }.through(store)
      let got = Witness<Int>()
      program.thread([
        "gets": { order.call("get") { got.watch(source.get(1).map(\.value)) } },
        "answers": { origin.answer() },
      ])
      program.thread([
        "sets 7": { order.call("set") { store.set(Number(id: 1, value: 7)) } }
      ])
      program.whenQuiet {
        let value = store.get(one)?.value ?? -1
        if order.isBefore("get", "set"), value != 7 { return "the set is lost" }
        if got.values.last != value { return "\(value) is stored, got \(got.values)" }
        return got.complaint(mustEnd: false)
      }
    }
  }

  @Test func `a transaction of two entities beside a read of both`() {
    expectNoFault(.brief) { program in
      let store = EntityStore(clock: ManualClock())
      let both = [Reference<Number>(1), Reference<Number>(2)]
      let read = Shared<[[Int]]>([])
      let write = { (value: Int) in
        store.update { transaction in
          for id in 1...2 { transaction.set(Number(id: id, value: value)) }
        }
      }
      write(0)
      for value in 1...2 { program.thread(["writes \(value)": { write(value) }]) }
      program.thread([
        "reads": { for _ in 0..<2 { read.value.append(store.get(both).map(\.value)) } }
      ])
      program.whenQuiet {
        read.value.allSatisfy { Set($0).count == 1 } ? nil : "read \(read.value)"
      }
    }
  }

  @Test func `a query beside a set and a removal`() {
    expectNoFault { program in
      let (store, seen) = (EntityStore(clock: ManualClock()), Witness<[Int]>())
      store.set(Number(id: 1, value: 1))
      program.thread(["sets 2": { store.set(Number(id: 2, value: 2)) }])
      program.thread(["removes 1": { store.remove(one) }])
      program.thread([
        "observes": { seen.watch(store.query(Number.self).values.map { $0.map(\.id).sorted() }) }
      ])
      program.whenQuiet {
        seen.values.last == [2] ? seen.complaint(mustEnd: false) : "seen: \(seen.values)"
      }
    }
  }

  @Test func `the end of a store beside an observer and a fetch`() {
    expectNoFault(.brief) { program in
      let (scope, origin, order) = (CacheScope(), ProgramOrigin(5), CallOrder())
      let store = EntityStore(scope: scope, clock: ManualClock())
      let source = FunctionSource<Int, Number>.signal { id in
        origin.get("\(id)").map { Number(id: id, value: $0) }
      }.through(store)
      let got = Witness<Int>()
      program.thread([
        "gets": { order.call("get") { got.watch(source.get(1).map(\.value)) } },
        "answers": { origin.answer() },
      ])
      program.thread(["ends": { order.call("end") { _ = scope.end() as Signal<Void> } }])
      program.whenQuiet {
        if order.isBefore("get", "end"), store.get(one) != nil {
          return "a former user's value is stored"
        }
        return order.isBefore("get", "end") ? got.complaint() : got.complaint(mustEnd: false)
      }
    }
  }

  /// A source whose answers are stored.
  private func source(
    _ origin: ProgramOrigin, _ store: EntityStore
  ) -> StoreBackedSource<FunctionSource<Int, Number>> {
    FunctionSource<Int, Number>.signal { id in
      origin.get("\(id)").map { Number(id: id, value: $0) }
    }.through(store)
  }

  @Test func `writes through a cache arrive in the same order in both`() {
    expectNoFault { program in
      let store = EntityStore(clock: ManualClock())
      let base = MemoryCache<Int, Number>(countLimit: 10)
      let cache = base.through(store)
      for value in 1...2 {
        program.thread(["sets \(value)": { cache.set(Number(id: 1, value: value), for: 1) }])
      }
      program.thread(["removes": { cache.remove(1) }])
      program.whenQuiet {
        let (above, below) = (store.get(one)?.value, base.peek(1)?.value)
        return above == below
          ? nil : "\(above ?? -1) is in the store, \(below ?? -1) in the cache"
      }
    }
  }

  /// An answer to a get from before a write that must not be overwritten.
  private func answer(
    location: SourceLocation = #_sourceLocation, ofStored isStored: Bool = true,
    _ expected: Int?, _ write: @escaping (EntityStore) -> Void
  ) {
    expectNoFault(.brief, location: location) { [self] program in
      let (store, origin, got) = (
        EntityStore(clock: ManualClock()), ProgramOrigin(5), Witness<Int>()
      )
      if isStored { store.set(Number(id: 1, value: 1)) }
      got.watch(source(origin, store).get(1).map(\.value))
      program.thread(["answers": { origin.answer() }])
      program.thread(["writes": { write(store) }])
      program.whenQuiet {
        let value = store.get(one)?.value
        if value != expected { return "\(value ?? -1) is stored" }
        return got.complaint(mustEnd: false)
      }
    }
  }

  @Test func `an answer beside a removal`() {
    answer(nil) { [one] in $0.remove(one) }
  }

  @Test func `an answer beside a removal of everything`() {
    answer(nil) { $0.removeAll() }
  }

  @Test func `an answer beside a removal of everything, of which nothing is stored`() {
    answer(ofStored: false, nil) { $0.removeAll() }
  }

  @Test func `an answer beside the confirmation of a set`() {
    expectNoFault { [self] program in
      let (store, origin, order) = (
        EntityStore(clock: ManualClock()), ProgramOrigin(5), CallOrder()
      )
      let (request, got) = (PublishSubject<Void>(), Witness<Int>())
      store.set(Number(id: 1, value: 8), confirmedBy: request.signal)
      program.thread([
        "gets": { order.call("get") { got.watch(source(origin, store).get(1).map(\.value)) } },
        "answers": { order.call("answer") { origin.answer() } },
      ])
      program.thread(["confirms": { order.call("confirm") { request.completed() } }])
      program.whenQuiet {
        let value = store.get(one)?.value ?? -1
        if order.isBefore("get", "confirm"), value != 8 { return "\(value) is stored" }
        return got.complaint(mustEnd: false)
      }
    }
  }

  @Test func `a request of an edit and the end of a store`() {
    expectNoFault { program in
      let (scope, outcome) = (CacheScope(), Witness<Void>())
      let store = EntityStore(scope: scope, clock: ManualClock())
      let (request, hasStarted, isFormer) = (PublishSubject<Void>(), Shared(false), Shared(false))
      let work = Signal<Void>.deferred {
        hasStarted.value = true
        return request.signal
      }
      program.thread([
        "sets 1": { outcome.watch(store.set(Number(id: 1, value: 1), confirmedBy: work)) }
      ])
      program.thread([
        "ends": {
          isFormer.value = hasStarted.value
          _ = scope.end() as Signal<Void>
        }
      ])
      program.whenQuiet {
        if store.get(one) != nil { return isFormer.value ? "a former value is stored" : nil }
        return outcome.complaint()
      }
    }
  }

  @Test func `a subscription while a store is released`() {
    expectNoFault(.brief) { program in
      let store = Shared<EntityStore?>(EntityStore(clock: ManualClock()))
      let (seen, signal) = (Witness<Int>(), store.value.map { values($0) })
      program.thread(["observes": { if let signal { seen.watch(signal) } }])
      program.thread(["releases": { store.value = nil }])
      program.whenQuiet { seen.complaint() }
    }
  }

  @Test func `a fetch and the end of a store`() {
    expectNoFault { [self] program in
      let (scope, origin, got) = (CacheScope(), ProgramOrigin(5), Witness<Int>())
      let store = EntityStore(scope: scope, clock: ManualClock())
      let (source, isFormer) = (source(origin, store), Shared(false))
      program.thread(["gets": { got.watch(source.get(1).map(\.value)) }])
      program.thread([
        "ends": {
          isFormer.value = !origin.runs.isEmpty
          _ = scope.end() as Signal<Void>
        }
      ])
      program.whenQuiet {
        isFormer.value ? got.complaint() : got.complaint(mustEnd: false)
      }
    }
  }

  @Test func `an answer that is evicted before its caller has seen it`() {
    expectNoFault(.brief) { [self] program in
      let (store, origin, got) = (
        EntityStore(countLimit: 1, clock: ManualClock()), ProgramOrigin(5), Witness<Int>()
      )
      got.watch(source(origin, store).get(1).map(\.value))
      program.thread(["answers": { origin.answer() }])
      program.thread(["sets others": { for id in 2...3 { store.set(Number(id: id, value: 0)) } }])
      program.whenQuiet {
        got.values == [5] ? got.complaint(mustEnd: false) : "got \(got.summary)"
      }
    }
  }
}
