import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Writes that overlap are in one order, which all layers, counts and limits show.
@Suite(.schedules) struct WriteScheduleTests {
  typealias Memory = MemoryCache<String, Int>

  // MARK: Closures

  @Test func `a thread that gets what it has just set in a cache of closures`() {
    expectNoFault { program in
      let store = SlowStore()
      let cache = store.cache(isLate: false)
      let seen = Witness<Int>()
      program.thread([
        "sets 1": { cache.set(1, for: "a") }, "gets": { seen.watch(cache.get("a")) },
      ])
      program.thread(["sets 2": { cache.set(2, for: "a") }])
      program.whenQuiet {
        if seen.values.count != 1 { return "got \(seen.summary)" }
        // A get of 2 puts that set after the own one.
        if seen.values == [2], store.value != 2 {
          return "got 2, but \(store.value ?? 0) is stored"
        }
        return seen.complaint()
      }
    }
  }

  @Test func `a slow set and a removal`() {
    expectNoFault { program in
      let (store, order) = (SlowStore(), CallOrder())
      let cache = store.cache(isLate: true)
      let (set, removal) = (Witness<Void>(), Witness<Void>())
      program.thread(["sets 1": { order.call("set") { set.watch(cache.set(1, for: "a")) } }])
      program.thread(["removes": { order.call("remove") { removal.watch(cache.remove("a")) } }])
      program.thread(["ends the set": { store.finish() }])
      program.whenQuiet {
        store.finish()
        if order.isBefore("set", "remove"), store.value != nil {
          return "a removed value is stored"
        }
        if order.isBefore("remove", "set"), store.value != 1 { return "the set is lost" }
        return set.complaint() ?? removal.complaint()
      }
    }
  }

  @Test func `a slow set and a removal of everything, below a memory`() {
    expectNoFault(.long) { program in
      let (upper, store, order) = (Memory(countLimit: 10), SlowStore(), CallOrder())
      let cache = upper.layered(over: store.cache(isLate: true))
      program.thread(["sets 1": { order.call("set") { cache.set(1, for: "a") } }])
      program.thread(["removes all": { order.call("remove") { cache.removeAll() } }])
      program.thread(["ends the set": { store.finish() }])
      program.whenQuiet {
        store.finish()
        if let above = upper.peek("a"), store.value != above { return "only \(above) is above" }
        if order.isBefore("set", "remove"), store.value != nil {
          return "a removed value is stored"
        }
        if order.isBefore("remove", "set"), store.value != 1 { return "the set is lost" }
        return nil
      }
    }
  }

  @Test func `a set, a removal and a get of closures below a memory`() {
    expectNoFault { program in
      let (upper, store, order) = (Memory(countLimit: 10), SlowStore(), CallOrder())
      let cache = upper.layered(over: store.cache(isLate: false))
      let seen = Witness<Int>()
      program.thread(["sets 1": { order.call("set") { cache.set(1, for: "a") } }])
      program.thread(["removes": { order.call("remove") { cache.remove("a") } }])
      program.thread(["gets": { seen.watch(cache.get("a")) }])
      program.whenQuiet {
        if let above = upper.peek("a"), store.value != above { return "only \(above) is above" }
        if order.isBefore("set", "remove"), store.value != nil {
          return "a removed value is stored"
        }
        if order.isBefore("remove", "set"), store.value != 1 { return "the set is lost" }
        return seen.complaint()
      }
    }
  }

  // MARK: Codecs

  private func encoded(_ base: Memory) -> MappedValues<Memory, String> {
    base.mapValues(
      Codec<Int, String>.asynchronous(encode: { Int($0) ?? 0 }, decode: { "\($0)" }))
  }

  @Test func `two values of a thread that are encoded at once`() {
    expectNoFault(.brief) { program in
      let base = Memory(countLimit: 10)
      let cache = encoded(base)
      let seen = Witness<String>()
      program.thread([
        "sets 1 and 2": {
          cache.set("1", for: "a")
          cache.set("2", for: "a")
        },
        "gets": { seen.watch(cache.get("a")) },
      ])
      program.thread(["sets b": { cache.set("3", for: "b") }])
      program.whenQuiet {
        if base.peek("a") != 2 { return "\(base.peek("a") ?? 0) is stored" }
        if base.peek("b") != 3 { return "a set is lost" }
        return seen.complaint() ?? (seen.isCompleted(with: ["2"]) ? nil : "got \(seen.summary)")
      }
    }
  }

  @Test func `a removal while a value is encoded`() {
    expectNoFault(.brief) { program in
      let (base, order) = (Memory(countLimit: 10), CallOrder())
      let cache = encoded(base)
      program.thread(["sets 1": { order.call("set") { cache.set("1", for: "a") } }])
      program.thread(["removes": { order.call("remove") { cache.remove("a") } }])
      program.whenQuiet {
        if order.isBefore("set", "remove"), base.peek("a") != nil {
          return "a removed value is stored"
        }
        if order.isBefore("remove", "set"), base.peek("a") == nil { return "the set is lost" }
        return nil
      }
    }
  }

  @Test func `a removal by predicate while a value is encoded`() {
    expectNoFault(.brief) { program in
      let (base, order) = (Memory(countLimit: 10), CallOrder())
      let cache = encoded(base)
      program.thread(["sets 1": { order.call("set") { cache.set("1", for: "a") } }])
      program.thread([
        "removes": { order.call("remove") { _ = cache.removeAll { $0 == "a" } } }
      ])
      program.whenQuiet {
        if order.isBefore("set", "remove"), base.peek("a") != nil {
          return "a removed value is stored"
        }
        if order.isBefore("remove", "set"), base.peek("a") == nil { return "the set is lost" }
        return nil
      }
    }
  }

  // MARK: A memory cache

  @Test func `a set, a removal and an eviction of one key`() {
    expectNoFault { program in
      let (memory, order) = (Memory(countLimit: 10), CallOrder())
      program.thread(["sets 1": { order.call("set") { memory.set(1, for: "a") } }])
      program.thread(["removes": { order.call("remove") { memory.remove("a") } }])
      program.thread(["evicts": { order.call("evict") { memory.trim(to: 0) } }])
      program.whenQuiet {
        let stored = memory.peek("a")
        if memory.count != memory.snapshot().count { return "\(memory.count) are counted" }
        if order.isBefore("set", "remove") || order.isBefore("set", "evict"), stored != nil {
          return "a removed value is stored"
        }
        if order.isBefore("remove", "set"), order.isBefore("evict", "set"), stored == nil {
          return "the set is lost"
        }
        return nil
      }
    }
  }

  @Test func `a signal that is assigned, a set and an eviction`() {
    expectNoFault { program in
      let (memory, order) = (Memory(countLimit: 10), CallOrder())
      program.thread(["assigns": { order.call("assign") { memory["a"] = .just(1) } }])
      program.thread(["sets 3": { order.call("set") { memory.set(3, for: "a") } }])
      program.whenQuiet {
        let stored = memory.peek("a")
        memory.trim(to: 0)
        let hasEntry = memory["a"] != nil
        if (stored != nil) == hasEntry {
          return "stored: \(stored ?? 0), and an entry: \(hasEntry)"
        }
        if order.isBefore("assign", "set"), stored != 3 { return "the set is lost" }
        return nil
      }
    }
  }

  @Test func `two signals that are assigned, and a set`() {
    expectNoFault { program in
      let (memory, order) = (Memory(countLimit: 10), CallOrder())
      program.thread(["assigns 1": { order.call("1") { memory["a"] = .just(1) } }])
      program.thread(["assigns 2": { order.call("2") { memory["a"] = .just(2) } }])
      program.thread(["sets 3": { order.call("3") { memory.set(3, for: "a") } }])
      program.whenQuiet {
        let last = Witness<Int>()
        if let signal = memory["a"] { last.watch(signal) }
        guard let value = last.values.first else { return "nothing is stored" }
        for other in 1...3 where order.isBefore("\(value)", "\(other)") {
          return "\(value) is stored, though \(other) came later"
        }
        return last.complaint()
      }
    }
  }

  @Test func `an entry that is joined and left while the key is set`() {
    expectNoFault(.brief) { program in
      let (memory, origin) = (Memory(countLimit: 10), ProgramOrigin())
      let (first, second) = (Witness<Int>(), Witness<Int>())
      let get = { memory.signal(for: "a") { origin.get("a") } }
      program.thread(["gets": { first.watch(get()) }, "leaves": { first.leave() }])
      program.thread(["gets": { second.watch(get()) }])
      program.thread(["sets 2": { memory.set(2, for: "a") }, "answers": { origin.answer() }])
      program.whenQuiet {
        origin.answer()
        if memory.peek("a") != 2 { return "the set is lost" }
        return first.complaint(mustEnd: false) ?? second.complaint()
      }
    }
  }

  @Test func `an entry that ends while its caller leaves and another looks`() {
    expectNoFault { program in
      let (memory, origin) = (Memory(countLimit: 10), ProgramOrigin())
      let (first, second) = (Witness<Int>(), Witness<Int>())
      first.watch(memory.signal(for: "a") { origin.get("a") })
      program.thread(["leaves": { first.leave() }])
      program.thread(["answers": { origin.answer() }])
      program.thread(["looks": { if let signal = memory["a"] { second.watch(signal) } }])
      program.whenQuiet {
        origin.answer()
        if origin.runningCount > 0 { return "a run without callers goes on" }
        let last = Witness<Int>()
        last.watch(memory.signal(for: "a") { origin.get("a") })
        origin.answer()
        if !last.isCompleted(with: [1]) { return "a later get got \(last.summary)" }
        return first.complaint(mustEnd: false) ?? second.complaint(mustEnd: false)
      }
    }
  }

  @Test func `an entry whose last caller leaves with its first value`() {
    expectNoFault { program in
      let (memory, subject) = (Memory(countLimit: 10), PublishSubject<Int>())
      let (first, second) = (Witness<Int>(), Witness<Int>())
      first.watch(memory.signal(for: "a") { subject.signal }.take(1))
      program.thread(["sends 1": { subject.next(1) }])
      program.thread([
        "gets": { second.watch(memory.signal(for: "a") { subject.signal }) },
        "leaves": { second.leave() },
      ])
      program.whenQuiet {
        if !first.isCompleted(with: [1]) { return "got \(first.summary)" }
        return memory.peek("a") == 1 ? second.complaint() : "the value of the entry is lost"
      }
    }
  }

  /// An entry that waits for its first caller, who comes during a write of its key.
  private func firstCaller(
    location: SourceLocation = #_sourceLocation, _ expected: Int?,
    _ write: @escaping (Memory) -> Void
  ) {
    expectNoFault(.brief, location: location) { program in
      let (memory, seen) = (Memory(countLimit: 10), Witness<Int>())
      memory["a"] = .just(1)
      program.thread(["writes": { write(memory) }])
      program.thread(["gets": { seen.watch(memory.get("a")) }])
      program.whenQuiet {
        let stored = memory.peek("a")
        if stored != expected { return "\(stored.map { "\($0)" } ?? "nothing") is stored" }
        return seen.complaint()
      }
    }
  }

  @Test func `the first caller of an entry beside a removal`() {
    firstCaller(nil) { $0.remove("a") }
  }

  @Test func `the first caller of an entry beside a removal of everything`() {
    firstCaller(nil) { $0.removeAll() }
  }

  @Test func `the first caller of an entry beside a removal by predicate`() {
    firstCaller(nil) { _ = $0.removeAll { $0 == "a" } }
  }

  @Test func `the first caller of an entry beside a set`() {
    firstCaller(2) { $0.set(2, for: "a") }
  }

  @Test func `a count limit that is lowered while values arrive`() {
    expectNoFault { program in
      let (memory, removed) = (Memory(countLimit: 2), Witness<Int>())
      removed.watch(memory.removals.map { $0.value })
      program.thread([
        "sets a and b": {
          memory.set(1, for: "a")
          memory.set(2, for: "b")
        }
      ])
      program.thread([
        "sets c": { memory.set(3, for: "c") }, "lowers the limit": { memory.countLimit = 1 },
      ])
      program.whenQuiet {
        let present = memory.snapshot().map(\.value)
        if memory.count != present.count { return "\(memory.count) are counted: \(present)" }
        if memory.count > 1 { return "\(memory.count) are stored" }
        let all = (present + removed.values).sorted()
        if all != [1, 2, 3], memory.statistics.rejections == 0 { return "a value is lost: \(all)" }
        return removed.complaint(mustEnd: false)
      }
    }
  }

  @Test func `a cost limit while values arrive and change their costs`() {
    expectNoFault(.brief) { program in
      let memory = MemoryCache<String, Int>(costLimit: 5, clock: ManualClock()) { $0 }
      program.thread([
        "sets 3": { memory.set(3, for: "a") }, "sets 1": { memory.set(1, for: "a") },
      ])
      program.thread(["sets 4": { memory.set(4, for: "b") }])
      program.thread(["sets 2": { memory.set(2, for: "a") }, "removes": { memory.remove("b") }])
      program.whenQuiet {
        let present = memory.snapshot().map(\.value)
        let cost = present.reduce(0, +)
        if memory.totalCost != cost { return "a cost of \(memory.totalCost): \(present)" }
        if memory.count != present.count { return "\(memory.count) are counted: \(present)" }
        return cost > 5 ? "the cost is \(cost)" : nil
      }
    }
  }

  @Test func `a value that expires while a new one arrives`() {
    expectNoFault(.brief) { program in
      let clock = ManualClock()
      let memory = Memory(countLimit: 10, timeToLive: .seconds(10), clock: clock)
      let seen = Witness<Int>()
      memory.set(1, for: "a")
      clock.advance(by: .seconds(11))
      program.thread(["removes the old ones": { memory.removeExpired() }])
      program.thread(["sets 2": { memory.set(2, for: "a") }])
      program.thread(["gets": { seen.watch(memory.get("a")) }])
      program.whenQuiet {
        if memory.peek("a") != 2 { return "the set is lost" }
        if seen.values == [1] { return "got an expired value" }
        return seen.complaint() ?? (memory.count == 1 ? nil : "\(memory.count) are counted")
      }
    }
  }

  @Test func `gets are hits or misses`() {
    expectNoFault(.brief) { program in
      let memory = Memory(countLimit: 10)
      program.thread([
        "gets a": { memory.get("a").subscribe() }, "gets b": { memory.get("b").subscribe() },
      ])
      program.thread([
        "sets": { memory.set(1, for: "a") }, "gets a": { memory.get("a").subscribe() },
      ])
      program.thread(["removes": { memory.remove("a") }])
      program.whenQuiet {
        let counts = memory.statistics
        return counts.hits + counts.misses == 3
          ? nil : "\(counts.hits) hits, \(counts.misses) misses"
      }
    }
  }

  @Test func `a removal by predicate beside sets`() {
    expectNoFault { program in
      let (memory, order) = (Memory(countLimit: 10), CallOrder())
      memory.set(9, for: "a")
      program.thread(["sets 1": { order.call("set") { memory.set(1, for: "a") } }])
      program.thread([
        "removes": { order.call("remove") { _ = memory.removeAll { $0 == "a" } } }
      ])
      program.thread(["sets b": { memory.set(2, for: "b") }])
      program.whenQuiet {
        if memory.peek("a") == 9 { return "the old value is stored" }
        if order.isBefore("set", "remove"), memory.peek("a") != nil { return "1 is stored" }
        if order.isBefore("remove", "set"), memory.peek("a") == nil { return "the set is lost" }
        return memory.peek("b") == 2 ? nil : "another key's value is lost"
      }
    }
  }

  // MARK: Times to live

  /// A renewal of a layered value beside another write, and the values of both layers then.
  private func renewal(
    _ program: ScheduleProgram,
    _ write: @escaping (Layered<Memory, Memory>) -> Void
  ) -> (Memory, Memory) {
    let upper = Memory(countLimit: 10, clock: ManualClock())
    let lower = Memory(countLimit: 10, clock: ManualClock())
    let cache = upper.layered(over: lower)
    cache.set(1, for: "a")
    program.thread([
      "renews": { cache.setTimeToLive(.seconds(9), for: "a").subscribe() }
    ])
    program.thread(["writes": { write(cache) }])
    return (upper, lower)
  }

  @Test func `a renewal of a time to live and a set`() {
    expectNoFault { program in
      let (upper, lower) = renewal(program) { $0.set(2, for: "a") }
      program.whenQuiet {
        if lower.peek("a") != 2 { return "the set is lost" }
        return upper.peek("a") == 1 ? "the old value is above" : nil
      }
    }
  }

  @Test func `a renewal of a time to live and a removal of everything`() {
    expectNoFault { program in
      let (upper, lower) = renewal(program) { $0.removeAll() }
      program.whenQuiet {
        upper.peek("a") ?? lower.peek("a") == nil ? nil : "a removed value is stored"
      }
    }
  }

  @Test func `a renewal of a time to live and a removal by predicate`() {
    expectNoFault { program in
      let (upper, lower) = renewal(program) { _ = $0.removeAll { $0 == "a" } }
      program.whenQuiet {
        upper.peek("a") ?? lower.peek("a") == nil ? nil : "a removed value is stored"
      }
    }
  }

  // MARK: Several keys

  @Test func `a set of several keys and a removal of one of them`() {
    expectNoFault { program in
      let (upper, lower, order) = (Memory(countLimit: 10), Memory(countLimit: 10), CallOrder())
      let cache = upper.layered(over: lower)
      program.thread(["sets both": { order.call("set") { cache.set(all: ["a": 1, "b": 1]) } }])
      program.thread(["removes a": { order.call("remove") { cache.remove(all: ["a"]) } }])
      program.whenQuiet {
        let (above, below) = (upper.peek("a"), lower.peek("a"))
        if above != nil, above != below { return "only the upper layer has it" }
        if order.isBefore("set", "remove"), below != nil { return "a removed value is stored" }
        if order.isBefore("remove", "set"), below == nil { return "the set is lost" }
        return lower.peek("b") == 1 ? nil : "the other value is lost"
      }
    }
  }
}
