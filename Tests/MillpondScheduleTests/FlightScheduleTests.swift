import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Gets of several threads share a fetch, unless a write, a reload or a departure forbids it.
@Suite(.schedules) struct FlightScheduleTests {
  typealias Memory = MemoryCache<String, Int>

  @Test func `a get that joins while the last caller leaves`() {
    expectNoFault { program in
      let origin = ProgramOrigin()
      let cache = origin.reusingInFlight()
      let (first, second) = (Witness<Int>(), Witness<Int>())
      program.thread(["gets": { first.watch(cache.get("a")) }, "leaves": { first.leave() }])
      program.thread(["gets": { second.watch(cache.get("a")) }])
      program.whenQuiet {
        if origin.runningCount != 1 { return "\(origin.runningCount) runs for one caller" }
        origin.answer()
        return first.complaint(mustEnd: false) ?? second.complaint()
          ?? (second.isCompleted(with: [1]) ? nil : "got \(second.summary)")
      }
    }
  }

  @Test func `a get that joins while the last caller leaves and the fetch ends`() {
    expectNoFault { program in
      let origin = ProgramOrigin()
      let cache = origin.reusingInFlight()
      let (first, second) = (Witness<Int>(), Witness<Int>())
      program.thread(["gets": { first.watch(cache.get("a")) }, "leaves": { first.leave() }])
      program.thread(["gets": { second.watch(cache.get("a")) }])
      program.thread(["answers": { origin.answer() }])
      program.whenQuiet {
        origin.answer()
        return first.complaint(mustEnd: false) ?? second.complaint()
          ?? (second.isCompleted(with: [1]) ? nil : "got \(second.summary)")
      }
    }
  }

  @Test func `two callers that leave`() {
    expectNoFault { program in
      let origin = ProgramOrigin()
      let cache = origin.reusingInFlight()
      for _ in 0..<2 {
        let seen = Witness<Int>()
        program.thread(["gets": { seen.watch(cache.get("a")) }, "leaves": { seen.leave() }])
        program.whenQuiet { seen.complaint(mustEnd: false) }
      }
      program.whenQuiet {
        if origin.runningCount > 0 { return "a run without callers goes on" }
        let last = Witness<Int>()
        last.watch(cache.get("a"))
        origin.answer()
        return last.isCompleted(with: [1]) ? nil : "a later get got \(last.summary)"
      }
    }
  }

  @Test func `two gets at once make one fetch`() {
    expectNoFault { program in
      let origin = ProgramOrigin()
      let cache = origin.reusingInFlight()
      let (first, second) = (Witness<Int>(), Witness<Int>())
      program.thread(["gets": { first.watch(cache.get("a")) }])
      program.thread([
        "gets with an age": { second.watch(cache.getStamped("a", Lookup()).map { $0.value }) }
      ])
      program.whenQuiet {
        if origin.runs.count != 1 { return "\(origin.runs.count) fetches" }
        origin.answer()
        return first.complaint() ?? second.complaint()
          ?? (first.values + second.values == [1, 1] ? nil : "a value is lost")
      }
    }
  }

  @Test func `a fetch that fails while another get joins`() {
    expectNoFault { program in
      let origin = ProgramOrigin()
      let cache = origin.reusingInFlight()
      let (first, second) = (Witness<Int>(), Witness<Int>())
      program.thread([
        "gets": { first.watch(cache.get("a")) }, "fails": { origin.answer(OriginError()) },
      ])
      program.thread(["gets": { second.watch(cache.get("a")) }])
      program.whenQuiet {
        origin.answer()
        return first.complaint() ?? second.complaint()
      }
    }
  }

  @Test func `a set during a fetch`() {
    expectNoFault { program in
      let (upper, origin) = (Memory(countLimit: 10), ProgramOrigin())
      let cache = upper.layered(over: origin).reusingInFlight()
      let (first, second) = (Witness<Int>(), Witness<Int>())
      program.thread(["gets": { first.watch(cache.get("a")) }, "answers": { origin.answer() }])
      program.thread([
        "sets 2": { cache.set(2, for: "a") }, "gets": { second.watch(cache.get("a")) },
      ])
      program.whenQuiet {
        origin.answer()
        if !second.isCompleted(with: [2]) { return "a get after the set got \(second.summary)" }
        if upper.peek("a") != 2 { return "\(upper.peek("a") ?? 0) is stored" }
        return first.complaint() ?? second.complaint()
      }
    }
  }

  /// A get after a removal joins no fetch from before it, and nothing of that one is stored.
  private func removal(
    _ remove: @escaping (any Cache<String, Int>) -> Void,
    location: SourceLocation = #_sourceLocation
  ) {
    expectNoFault(location: location) { program in
      let (upper, origin) = (Memory(countLimit: 10), ProgramOrigin())
      let cache = upper.layered(over: origin).reusingInFlight()
      let (first, second) = (Witness<Int>(), Witness<Int>())
      program.thread(["gets": { first.watch(cache.get("a")) }, "answers": { origin.answer() }])
      program.thread([
        "removes": {
          origin.value = 7
          remove(cache)
        },
        "gets": { second.watch(cache.get("a")) },
      ])
      program.whenQuiet {
        origin.answer()
        if !second.isCompleted(with: [7]) { return "a get after it got \(second.summary)" }
        if upper.peek("a") != 7 { return "\(upper.peek("a") ?? 0) is stored" }
        return first.complaint() ?? second.complaint()
      }
    }
  }

  @Test func `a removal during a fetch`() {
    removal { $0.remove("a") }
  }

  @Test func `a removal of everything during a fetch`() {
    removal { $0.removeAll() }
  }

  @Test func `a removal by predicate during a fetch`() {
    removal { _ = $0.removeAll { $0 == "a" } }
  }

  @Test func `a reload beside a get`() {
    expectNoFault { program in
      let (upper, origin) = (Memory(countLimit: 10), ProgramOrigin())
      let cache = upper.layered(over: origin).reusingInFlight()
      let (first, second) = (Witness<Int>(), Witness<Int>())
      program.thread(["gets": { first.watch(cache.get("a")) }, "answers": { origin.answer() }])
      program.thread([
        "reloads": {
          origin.value = 2
          second.watch(cache.get("a", freshness: .reload))
        }
      ])
      program.whenQuiet {
        origin.answer()
        if second.values.last != 2 { return "the reload got \(second.summary)" }
        if upper.peek("a") != 2 { return "an older value is stored" }
        return first.complaint() ?? second.complaint()
      }
    }
  }

  @Test func `two reloads`() {
    expectNoFault { program in
      let (upper, lower) = (Memory(countLimit: 10), Memory(countLimit: 10))
      let origin = ProgramOrigin()
      let cache = upper.layered(over: lower.layered(over: origin)).reusingInFlight()
      let (first, second) = (Witness<Int>(), Witness<Int>())
      program.thread([
        "reloads": { first.watch(cache.get("a", freshness: .reload)) },
        "answers": { origin.answer() },
      ])
      program.thread([
        "reloads": {
          origin.value = 2
          second.watch(cache.get("a", freshness: .reload))
        },
        "answers": { origin.answer() },
      ])
      program.whenQuiet {
        origin.answer()
        if second.values.last != 2 { return "the second reload got \(second.summary)" }
        if upper.peek("a") != 2 || lower.peek("a") != 2 { return "an older value is stored" }
        return first.complaint() ?? second.complaint()
      }
    }
  }

  @Test func `a priority that is raised while a caller leaves`() {
    expectNoFault(.brief) { program in
      let origin = ProgramOrigin()
      let cache = origin.limited(to: 1).reusingInFlight()
      let (low, high, other) = (Witness<Int>(), Witness<Int>(), Witness<Int>())
      cache.get("z").subscribe()
      low.watch(cache.get("a", priority: .low))
      other.watch(cache.get("b"))
      program.thread(["leaves": { low.leave() }])
      program.thread([
        "gets with a high priority": { high.watch(cache.get("a", priority: .high)) },
        "answers": { origin.answer() },
      ])
      program.whenQuiet {
        if origin.runs.map(\.key) != ["z", "a"] { return "ran \(origin.runs.map(\.key))" }
        origin.answer()
        origin.answer()
        if origin.most > 1 { return "\(origin.most) at once" }
        return low.complaint(mustEnd: false) ?? high.complaint() ?? other.complaint()
      }
    }
  }

  @Test func `two fetches that get each other's key`() {
    expectNoFault { program in
      let inside = Shared<InFlightReuse<FunctionSource<String, Int>>?>(nil)
      let cache = FunctionSource<String, Int>.signal { key in
        inside.value?.get(key == "a" ? "b" : "a") ?? .empty
      }.reusingInFlight()
      inside.value = cache
      for key in ["a", "b"] {
        let seen = Witness<Int>()
        program.thread(["gets \(key)": { seen.watch(cache.get(key)) }])
        program.whenQuiet { seen.complaint() }
      }
      program.whenQuiet {
        inside.value = nil
        return nil
      }
    }
  }

  @Test func `a fetch that gets its own key by way of another thread's`() {
    expectNoFault(.brief) { program in
      let inside = Shared<InFlightReuse<FunctionSource<String, Int>>?>(nil)
      let next = ["a": "b", "b": "c", "c": "a"]
      let cache = FunctionSource<String, Int>.signal { key in
        inside.value?.get(next[key] ?? "") ?? .empty
      }.reusingInFlight()
      inside.value = cache
      for key in ["a", "b", "c"] {
        let seen = Witness<Int>()
        program.thread(["gets \(key)": { seen.watch(cache.get(key)) }])
        program.whenQuiet { seen.complaint() }
      }
      program.whenQuiet {
        inside.value = nil
        return nil
      }
    }
  }

  @Test func `a deadline that passes while the fetch ends, beside a caller without one`() {
    expectNoFault(.brief) { program in
      let (clock, origin) = (ManualClock(), ProgramOrigin())
      let cache = origin.reusingInFlight()
      let (first, second) = (Witness<Int>(), Witness<Int>())
      first.watch(cache.get("a", deadline: .after(.seconds(1), clock: clock)))
      program.thread(["waits": { clock.advance(by: .seconds(1)) }])
      program.thread([
        "gets": { second.watch(cache.get("a")) }, "answers": { origin.answer() },
      ])
      program.whenQuiet {
        origin.answer()
        if !second.isCompleted(with: [1]) { return "without a deadline: \(second.summary)" }
        return first.complaint() ?? second.complaint()
      }
    }
  }

  @Test func `a flight that leaves another one while its priority rises`() {
    expectNoFault { program in
      let (origin, stop) = (ProgramOrigin(), PublishSubject<Void>())
      let inner = origin.reusingInFlight()
      let outer = FunctionSource<String, Int>.signal { _, lookup in
        inner.get("a", lookup).take(until: stop.signal)
      }.reusingInFlight()
      let (low, high, other) = (Witness<Int>(), Witness<Int>(), Witness<Int>())
      other.watch(inner.get("a", priority: .low))
      low.watch(outer.get("x", priority: .low))
      program.thread(["stops": { stop.next(()) }])
      program.thread([
        "gets with a high priority": { high.watch(outer.get("x", priority: .high)) }
      ])
      program.whenQuiet {
        high.leave()
        if origin.runningCount != 1 { return "\(origin.runningCount) runs for one caller" }
        other.leave()
        if origin.runningCount > 0 { return "a run without callers goes on" }
        return low.complaint() ?? other.complaint()
      }
    }
  }
}
