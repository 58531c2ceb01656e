import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Changes of two layers that overlap leave the same value in both, and none that is removed.
@Suite(.schedules) struct LayerScheduleTests {
  typealias Memory = MemoryCache<String, Int>

  /// Checks that both layers have the same value, or the upper one none.
  private func agree(_ upper: Memory, _ lower: Memory, _ program: ScheduleProgram) {
    program.whenQuiet {
      let (above, below) = (upper.peek("a"), lower.peek("a"))
      if let above, above != below {
        return "\(above) is above, and \(below.map { "\($0)" } ?? "nothing") below"
      }
      return nil
    }
  }

  private func two() -> (Memory, Memory, Layered<Memory, Memory>) {
    let (upper, lower) = (Memory(countLimit: 10), Memory(countLimit: 10))
    return (upper, lower, upper.layered(over: lower))
  }

  @Test func `two sets and an eviction`() {
    expectNoFault { program in
      let (upper, lower, cache) = two()
      program.thread(["sets 1": { cache.set(1, for: "a") }])
      program.thread(["sets 2": { cache.set(2, for: "a") }, "trims": { upper.trim(to: 0) }])
      agree(upper, lower, program)
    }
  }

  @Test func `a set and a removal`() {
    expectNoFault { program in
      let (upper, lower, cache) = two()
      program.thread(["sets 1": { cache.set(1, for: "a") }])
      program.thread(["removes": { cache.remove("a") }, "sets 2": { cache.set(2, for: "a") }])
      agree(upper, lower, program)
    }
  }

  @Test func `a set and a removal of everything`() {
    expectNoFault { program in
      let (upper, lower, cache) = two()
      program.thread(["sets 1": { cache.set(1, for: "a") }])
      program.thread(["removes all": { cache.removeAll() }])
      agree(upper, lower, program)
    }
  }

  @Test func `a set and a removal by predicate`() {
    expectNoFault { program in
      let (upper, lower, cache) = two()
      cache.set(1, for: "a")
      program.thread(["sets 2": { cache.set(2, for: "a") }])
      program.thread(["removes": { _ = cache.removeAll { $0 == "a" } }])
      agree(upper, lower, program)
    }
  }

  @Test func `a set that comes late and two removals by predicate`() {
    expectNoFault { program in
      let (upper, lower, cache) = two()
      let revision = Revision.next()
      _ = cache.removeAll { $0 == "b" }
      program.thread(["sets 1": { _ = cache.apply(.set("a", Stamped(1), revision)) }])
      program.thread(["removes": { _ = cache.removeAll { $0 == "a" } }])
      agree(upper, lower, program)
    }
  }

  @Test func `a get and a set`() {
    expectNoFault { program in
      let (upper, lower, cache) = two()
      lower.set(1, for: "a")
      let seen = Witness<Int>()
      program.thread(["gets": { seen.watch(cache.get("a")) }])
      program.thread(["sets 2": { cache.set(2, for: "a") }])
      agree(upper, lower, program)
      program.whenQuiet { upper.peek("a") == 1 ? "the older value is above" : seen.complaint() }
    }
  }

  @Test func `a get, a set and an eviction`() {
    expectNoFault { program in
      let (upper, lower, cache) = two()
      lower.set(1, for: "a")
      let seen = Witness<Int>()
      program.thread(["gets": { seen.watch(cache.get("a")) }])
      program.thread(["sets 2": { cache.set(2, for: "a") }, "trims": { upper.trim(to: 0) }])
      agree(upper, lower, program)
      program.whenQuiet { seen.complaint() }
    }
  }

  @Test func `a get and a removal`() {
    expectNoFault { program in
      let (upper, lower, cache) = two()
      lower.set(1, for: "a")
      program.thread(["gets": { cache.get("a").subscribe() }])
      program.thread(["removes": { cache.remove("a") }])
      program.whenQuiet { upper.peek("a") == nil ? nil : "a removed value is above" }
      agree(upper, lower, program)
    }
  }

  @Test func `a renewal of a time to live and a removal`() {
    expectNoFault { program in
      let (upper, lower, cache) = two()
      cache.set(1, for: "a")
      program.thread([
        "renews": { cache.setTimeToLive(.after(.seconds(9)), for: "a").subscribe() }
      ])
      program.thread(["removes": { cache.remove("a") }])
      program.whenQuiet {
        upper.peek("a") ?? lower.peek("a") == nil ? nil : "a removed value is stored"
      }
    }
  }

  @Test func `a renewal of a time to live and a sign-out`() {
    expectNoFault(.brief) { program in
      let (upper, lower, cache) = two()
      let scope = CacheScope()
      let scoped = cache.scoped(to: scope)
      scoped.set(1, for: "a")
      program.thread([
        "renews": { scoped.setTimeToLive(.after(.seconds(9)), for: "a").subscribe() }
      ])
      program.thread(["signs out": { _ = scope.end() as Signal<Void> }])
      program.whenQuiet {
        upper.peek("a") ?? lower.peek("a") == nil ? nil : "a former user's value is stored"
      }
    }
  }

  @Test func `a set and a sign-out`() {
    expectNoFault { program in
      let (upper, lower, cache) = two()
      let scope = CacheScope()
      let scoped = cache.scoped(to: scope)
      let order = Shared<[String]>([])
      program.thread([
        "sets 1": {
          scoped.set(1, for: "a")
          order.value.append("set")
        }
      ])
      program.thread([
        "signs out": {
          order.value.append("end")
          _ = scope.end() as Signal<Void>
        }
      ])
      agree(upper, lower, program)
      program.whenQuiet {
        order.value == ["set", "end"] && upper.peek("a") ?? lower.peek("a") != nil
          ? "a former user's value is stored" : nil
      }
    }
  }

  @Test func `a get and a sign-out`() {
    expectNoFault(ScheduleEffort(searchLimit: 400, randomCount: 400)) { program in
      let (origin, scope) = (ProgramOrigin(), CacheScope())
      let memory = Memory(countLimit: 10)
      let cache = memory.layered(over: origin).reusingInFlight()
      _ = scope.add { cache.removeAll() }
      // A get that begins during the end may belong to the time after it.
      let (seen, hasBegun, isFormer) = (Witness<Int>(), Shared(false), Shared(false))
      let get = Signal<Int>.deferred {
        hasBegun.value = true
        return cache.get("a")
      }
      program.thread([
        "gets": { seen.watch(scope.untilEnd(get)) }, "answers": { origin.answer() },
      ])
      program.thread([
        "signs out": {
          isFormer.value = hasBegun.value
          _ = scope.end() as Signal<Void>
        }
      ])
      program.whenQuiet {
        if isFormer.value, seen.values == [], memory.peek("a") != nil {
          return "a value is stored that failed"
        }
        return origin.runningCount > 0 ? nil : seen.complaint()
      }
    }
  }

  @Test func `a refresh and a sign-out`() {
    expectNoFault { program in
      let (scope, origin) = (CacheScope(), ProgramOrigin())
      let users = MultiplexerMap(over: origin, scope: scope, clock: ManualClock())
      let (seen, hasBegun, isFormer) = (Witness<Int>(), Shared(false), Shared(false))
      program.thread([
        "refreshes": {
          hasBegun.value = true
          seen.watch(users.refresh("a"))
        },
        "answers": { origin.answer() },
      ])
      program.thread([
        "signs out": {
          isFormer.value = hasBegun.value
          _ = scope.end() as Signal<Void>
        }
      ])
      program.whenQuiet {
        isFormer.value && seen.values == [] && users.current("a") != nil
          ? "a value is stored that failed" : nil
      }
    }
  }

  @Test func `a set and a reload`() {
    expectNoFault(.long) { program in
      let (upper, lower) = (Memory(countLimit: 10), Memory(countLimit: 10))
      let origin = ProgramOrigin(1)
      let cache = upper.layered(over: lower.layered(over: origin))
      program.thread([
        "reloads": { cache.get("a", freshness: .reload).subscribe() },
        "answers": { origin.answer() },
      ])
      program.thread(["sets 2": { cache.set(2, for: "a") }])
      agree(upper, lower, program)
    }
  }
}
