import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// A multiplexer, what it keeps in the long term, and what it shows agree when all is quiet.
@Suite(.schedules) struct MultiplexerScheduleTests {
  typealias Memory = MemoryCache<String, Int>
  typealias Users = MultiplexerMap<String, Int>

  /// A map that persists in a memory cache.
  private func persistent(
    over origin: ProgramOrigin, countLimit: Int = 10, scope: CacheScope? = nil
  ) -> (Users, Memory) {
    let store = Memory(countLimit: 10, clock: ManualClock())
    let users = Users(
      over: origin, countLimit: countLimit, persistence: Persistence(store), scope: scope,
      clock: ManualClock())
    return (users, store)
  }

  @Test func `a refresh and a set`() {
    expectNoFault(.brief) { program in
      let (origin, order) = (ProgramOrigin(), CallOrder())
      let (users, store) = persistent(over: origin)
      let seen = Witness<Int>()
      program.thread([
        "refreshes": { order.call("refresh") { seen.watch(users.refresh("a")) } },
        "answers": { origin.answer() },
      ])
      program.thread(["sets 2": { order.call("set") { users.set(2, for: "a") } }])
      program.whenQuiet {
        // A refresh whose fetch the set has stopped before the caller joined it fetches again.
        origin.answer()
        return nil
      }
      program.whenQuiet {
        if order.isBefore("refresh", "set"), store.peek("a") != 2 { return "the set is lost" }
        if store.peek("a") == nil { return "nothing is stored" }
        return users.disagreement(with: store) ?? seen.complaint()
      }
    }
  }

  @Test func `a refresh, a set and an eviction`() {
    expectNoFault(.brief) { program in
      let origin = ProgramOrigin()
      let (users, store) = persistent(over: origin, countLimit: 1)
      program.thread([
        "refreshes": { users.refresh("a").subscribe() }, "answers": { origin.answer() },
      ])
      program.thread(["sets 2": { users.set(2, for: "a") }, "sets b": { users.set(9, for: "b") }])
      program.whenQuiet {
        store.peek("a") == nil ? "nothing is stored" : users.disagreement(with: store)
      }
    }
  }

  @Test func `two sets and an eviction`() {
    expectNoFault(.brief) { program in
      let (users, store) = persistent(over: ProgramOrigin(), countLimit: 1)
      program.thread(["sets 1": { users.set(1, for: "a") }])
      program.thread(["sets 2": { users.set(2, for: "a") }, "sets b": { users.set(9, for: "b") }])
      program.whenQuiet { users.disagreement(with: store) }
    }
  }

  @Test func `a get of a kept value, a removal and a set`() {
    expectNoFault(.brief) { program in
      let (origin, order, seen) = (ProgramOrigin(7), CallOrder(), Witness<Int>())
      let (users, store) = persistent(over: origin)
      store.set(5, for: "a")
      program.thread(["gets": { seen.watch(users.get("a")) }])
      program.thread(["removes": { order.call("remove") { users.remove("a") } }])
      program.thread(["sets 2": { order.call("set") { users.set(2, for: "a") } }])
      program.whenQuiet {
        if store.peek("a") == 5 { return "the old value is stored" }
        if order.isBefore("set", "remove"), store.peek("a") != nil { return "2 is stored" }
        if order.isBefore("remove", "set"), store.peek("a") != 2 { return "the set is lost" }
        if let fault = users.disagreement(with: store) { return fault }
        origin.answer()
        return seen.complaint()
      }
    }
  }

  @Test func `a flush beside a set and a removal`() {
    expectNoFault(.brief) { program in
      let (order, flush) = (CallOrder(), Witness<Void>())
      let (users, store) = persistent(over: ProgramOrigin())
      program.thread(["sets 1": { order.call("set") { users.set(1, for: "a") } }])
      program.thread(["removes": { order.call("remove") { users.remove("a") } }])
      program.thread(["flushes": { flush.watch(users.flush()) }])
      program.whenQuiet {
        if order.isBefore("set", "remove"), store.peek("a") != nil { return "1 is stored" }
        if order.isBefore("remove", "set"), store.peek("a") != 1 { return "the set is lost" }
        return users.disagreement(with: store) ?? flush.complaint()
      }
    }
  }

  @Test func `a flush after a set whose write fails`() {
    expectNoFault(.brief) { program in
      let (fails, stored, flush) = (Shared(true), Shared<Int?>(nil), Witness<Void>())
      let pause = Locked(())
      let cache = AnyCache<String, Int>(
        get: { _ in .deferred { stored.value.map { .just($0) } ?? .empty } },
        set: { value, _ in
          pause.withLock { _ in }
          if fails.value { return .fail(OriginError()) }
          stored.value = value
          return .just(())
        }, remove: { _ in .just(()) }, removeAll: { .just(()) })
      let users = Users(
        over: ProgramOrigin(), persistence: Persistence(cache), clock: ManualClock())
      program.thread(["sets 1": { users.set(1, for: "a") }])
      program.thread(["mends": { fails.value = false }, "flushes": { flush.watch(users.flush()) }])
      program.whenQuiet {
        users.flush()
        return stored.value == 1 ? flush.complaint() : "the value is not saved"
      }
    }
  }

  /// The last state that is shown is what a look finds.
  private func states(
    location: SourceLocation = #_sourceLocation, ofStored isStored: Bool = true,
    _ write: @escaping (Users) -> Void
  ) {
    expectNoFault(.brief, location: location) { program in
      let (origin, seen) = (ProgramOrigin(3), Witness<String>())
      let (users, store) = persistent(over: origin)
      if isStored { users.set(1, for: "a") }
      program.thread([
        "observes": {
          seen.watch(
            users.states(of: "a").map { "\($0.value ?? 0)\($0.isLoading ? ", loading" : "")" })
        }
      ])
      program.thread(["writes": { write(users) }])
      program.thread(["answers": { origin.answer() }])
      program.whenQuiet {
        origin.answer()
        let found = users.current("a") ?? 0
        if seen.values.last != "\(found)" { return "\(found) is stored, shown: \(seen.values)" }
        return users.disagreement(with: store) ?? seen.complaint(mustEnd: false)
      }
    }
  }

  @Test func `states beside a set`() {
    states { $0.set(2, for: "a") }
  }

  @Test func `states beside a removal`() {
    states { $0.remove("a") }
  }

  @Test func `states beside a refresh`() {
    states { $0.refresh("a").subscribe() }
  }

  @Test func `states beside a fetch and a set`() {
    states(ofStored: false) { users in
      users.get("a").subscribe()
      users.set(2, for: "a")
    }
  }

  @Test func `a refresh in the background whose only caller leaves`() {
    expectNoFault(.brief) { program in
      let (clock, origin, seen) = (ManualClock(), ProgramOrigin(1), Witness<Int>())
      let users = Users(
        over: origin, freshness: FreshnessPolicy(freshFor: .seconds(1), stale: .atOnce),
        clock: clock)
      users.set(5, for: "a")
      clock.advance(by: .seconds(2))
      program.thread(["gets": { seen.watch(users.get("a")) }, "leaves": { seen.leave() }])
      program.thread(["answers": { origin.answer() }])
      program.whenQuiet {
        if origin.runs.count != 1 { return "\(origin.runs.count) fetches" }
        origin.answer()
        if users.current("a") != 1 { return "the fetched value is not stored" }
        clock.advance(by: .seconds(100))
        return origin.runningCount > 0 ? "the fetch goes on" : seen.complaint(mustEnd: false)
      }
    }
  }

  @Test func `a refresh in the background beside a get of another caller`() {
    expectNoFault(.brief) { program in
      let (clock, origin) = (ManualClock(), ProgramOrigin(1))
      let (first, second) = (Witness<Int>(), Witness<Int>())
      let users = Users(
        over: origin, freshness: FreshnessPolicy(freshFor: .seconds(1), stale: .atOnce),
        clock: clock)
      users.set(5, for: "a")
      clock.advance(by: .seconds(2))
      program.thread(["gets": { first.watch(users.get("a")) }, "leaves": { first.leave() }])
      program.thread(["gets": { second.watch(users.get("a")) }])
      program.whenQuiet {
        if origin.runs.count != 1 { return "\(origin.runs.count) fetches" }
        origin.answer()
        if second.values != [5, 1] { return "got \(second.summary)" }
        return first.complaint(mustEnd: false) ?? second.complaint()
      }
    }
  }

  @Test func `a stale mark of all values beside a set`() {
    expectNoFault(.brief) { program in
      let (origin, order, seen) = (ProgramOrigin(7), CallOrder(), Witness<Int>())
      let (users, _) = persistent(over: origin)
      users.set(1, for: "a")
      program.thread(["marks": { order.call("mark") { users.markAllStale() } }])
      program.thread(["sets 2": { order.call("set") { users.set(2, for: "a") } }])
      program.whenQuiet {
        seen.watch(users.get("a"))
        origin.answer()
        if order.isBefore("mark", "set"), seen.values != [2] { return "a new value is stale" }
        if order.isBefore("set", "mark"), seen.values != [7] { return "an old value is fresh" }
        return seen.complaint()
      }
    }
  }

  @Test func `a stale mark beside a fetch`() {
    expectNoFault(.brief) { program in
      let (origin, first, second) = (ProgramOrigin(1), Witness<Int>(), Witness<Int>())
      let (users, _) = persistent(over: origin)
      program.thread(["gets": { first.watch(users.get("a")) }, "answers": { origin.answer() }])
      program.thread([
        "marks": {
          origin.value = 9
          users.markStale("a")
        },
        "gets": { second.watch(users.get("a")) },
      ])
      program.whenQuiet {
        origin.answer()
        origin.answer()
        if second.values.last != 9 { return "a get after the mark got \(second.summary)" }
        return first.complaint() ?? second.complaint()
      }
    }
  }

  @Test func `a remembered failure beside a set`() {
    expectNoFault(.brief) { program in
      let (origin, first, second) = (ProgramOrigin(), Witness<Int>(), Witness<Int>())
      let users = Users(
        over: origin, freshness: FreshnessPolicy(failureLife: { _ in .seconds(10) }),
        clock: ManualClock())
      program.thread([
        "gets": { first.watch(users.get("a")) }, "fails": { origin.answer(OriginError()) },
      ])
      program.thread([
        "sets 2": { users.set(2, for: "a") }, "gets": { second.watch(users.get("a")) },
      ])
      program.whenQuiet {
        origin.answer()
        if !second.isCompleted(with: [2]) { return "a get after the set got \(second.summary)" }
        return first.complaint()
      }
    }
  }

  @Test func `a renewal of a time to live and a removal of everything`() {
    expectNoFault(.brief) { program in
      let (users, store) = persistent(over: ProgramOrigin())
      users.set(5, for: "a")
      program.thread(["renews": { users.setTimeToLive(.seconds(9), for: "a").subscribe() }])
      program.thread(["removes all": { users.removeAll() }])
      program.whenQuiet {
        users.current("a") ?? store.peek("a") == nil ? nil : "a removed value is stored"
      }
    }
  }

  @Test func `relief of the memory beside a set and a get`() {
    expectNoFault(.brief) { program in
      let seen = Witness<Int>()
      let (users, store) = persistent(over: ProgramOrigin())
      program.thread([
        "sets 1": { users.set(1, for: "a") }, "gets": { seen.watch(users.get("a")) },
      ])
      program.thread(["relieves": { users.relieve(.critical) }])
      program.whenQuiet {
        if store.peek("a") != 1 { return "the set is lost" }
        return users.disagreement(with: store) ?? (seen.isCompleted(with: [1]) ? nil : seen.summary)
      }
    }
  }

  @Test func `a refresh and the end of a scope`() {
    expectNoFault(.brief) { program in
      let (origin, scope, order) = (ProgramOrigin(), CacheScope(), CallOrder())
      let (users, store) = persistent(over: origin, scope: scope)
      let seen = Witness<Int>()
      program.thread([
        "refreshes": { order.call("refresh") { seen.watch(users.refresh("a")) } },
        "answers": { origin.answer() },
      ])
      program.thread(["ends": { order.call("end") { _ = scope.end() as Signal<Void> } }])
      program.whenQuiet {
        origin.answer()
        if order.isBefore("refresh", "end"), users.current("a") ?? store.peek("a") != nil {
          return "a former user's value is stored"
        }
        return users.disagreement(with: store) ?? seen.complaint()
      }
    }
  }

  @Test func `a flush and the end of a scope`() {
    expectNoFault(.brief) { program in
      let (scope, order, flush) = (CacheScope(), CallOrder(), Witness<Void>())
      let (users, store) = persistent(over: ProgramOrigin(), scope: scope)
      program.thread([
        "sets 1": { order.call("set") { users.set(1, for: "a") } },
        "flushes": { flush.watch(users.flush()) },
      ])
      program.thread(["ends": { order.call("end") { _ = scope.end() as Signal<Void> } }])
      program.whenQuiet {
        if order.isBefore("set", "end"), users.current("a") ?? store.peek("a") != nil {
          return "a former user's value is stored"
        }
        return users.disagreement(with: store) ?? flush.complaint()
      }
    }
  }

  @Test func `a shutdown beside a get`() {
    expectNoFault(.brief) { program in
      let (clock, origin, order) = (ManualClock(), ProgramOrigin(), CallOrder())
      let (users, _) = persistent(over: origin)
      let (seen, end) = (Witness<Int>(), Witness<Void>())
      program.thread(["gets": { order.call("get") { seen.watch(users.get("a")) } }])
      program.thread([
        "shuts down": {
          order.call("shutdown") {
            end.watch(users.shutDown(deadline: .after(.seconds(4), clock: clock)) as Signal<Void>)
          }
        }
      ])
      program.thread(["answers": { origin.answer() }])
      program.whenQuiet {
        origin.answer()
        clock.advance(by: .seconds(4))
        if origin.runningCount > 0 { return "a fetch goes on" }
        if order.isBefore("shutdown", "get"), !seen.values.isEmpty { return "a get was answered" }
        if order.isBefore("get", "shutdown"), seen.values != [1] { return "a get was not answered" }
        return seen.complaint() ?? end.complaint()
      }
    }
  }

  @Test func `an observation that is left while it refreshes`() {
    expectNoFault(.brief) { program in
      let (clock, origin) = (ManualClock(), ProgramOrigin())
      let users = Users(
        over: origin, freshness: FreshnessPolicy(freshFor: .seconds(1)), clock: clock)
      let seen = Witness<ResourceState<Int>>()
      program.thread([
        "observes": { seen.watch(users.observe("a", every: .seconds(2))) },
        "leaves": { seen.leave() },
      ])
      program.thread(["waits": { clock.advance(by: .seconds(2)) }])
      program.whenQuiet {
        clock.advance(by: .seconds(100))
        return origin.runningCount > 0 ? "a fetch goes on" : seen.complaint(mustEnd: false)
      }
    }
  }

  @Test func `a monitor counts each get once`() {
    expectNoFault(.brief) { program in
      let (monitor, upper, events) = (CacheMonitor(), Memory(countLimit: 10), Shared(0))
      upper.set(1, for: "a")
      let cache = upper.monitored(by: monitor)
      program.thread(["gets a": { cache.get("a").subscribe() }])
      program.thread(["gets b": { cache.get("b").subscribe() }])
      program.thread([
        "listens": {
          monitor.events.subscribe(onNext: { _ in events.value += 1 }).dispose()
        }
      ])
      program.whenQuiet {
        let all = monitor.statistics.values
        let (hits, misses) = (all.reduce(0) { $0 + $1.hits }, all.reduce(0) { $0 + $1.misses })
        return hits == 1 && misses == 1 ? nil : "\(hits) hits, \(misses) misses"
      }
    }
  }
}
