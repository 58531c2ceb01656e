import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// No turn is lost and none is used twice, whoever leaves at whatever moment.
@Suite(.schedules) struct LimitScheduleTests {
  /// A get after the others is answered: no turn is lost.
  private func isServed(_ cache: some Source<String, Int>, _ origin: ProgramOrigin) -> Bool {
    let last = Witness<Int>()
    last.watch(cache.get("last"))
    origin.answer()
    return last.isCompleted(with: [origin.value])
  }

  @Test func `a caller that leaves while its slot is handed on`() {
    expectNoFault { program in
      let origin = ProgramOrigin()
      let cache = origin.limited(to: 1)
      let (first, second) = (Witness<Int>(), Witness<Int>())
      first.watch(cache.get("a"))
      program.thread(["leaves": { first.leave() }])
      program.thread(["gets": { second.watch(cache.get("b")) }])
      program.whenQuiet {
        if origin.runningCount != 1 { return "\(origin.runningCount) runs for one caller" }
        origin.answer()
        if origin.most > 1 { return "\(origin.most) at once" }
        return second.complaint() ?? (isServed(cache, origin) ? nil : "a slot is lost")
      }
    }
  }

  @Test func `a caller that leaves the queue while a slot becomes free`() {
    expectNoFault { program in
      let origin = ProgramOrigin()
      let cache = origin.limited(to: 1)
      let (first, second, third) = (Witness<Int>(), Witness<Int>(), Witness<Int>())
      first.watch(cache.get("a"))
      second.watch(cache.get("b"))
      program.thread(["answers": { origin.answer() }])
      program.thread(["leaves": { second.leave() }])
      program.thread(["gets": { third.watch(cache.get("c")) }])
      program.whenQuiet {
        origin.answer()
        origin.answer()
        if origin.most > 1 { return "\(origin.most) at once" }
        return first.complaint() ?? second.complaint(mustEnd: false) ?? third.complaint()
          ?? (isServed(cache, origin) ? nil : "a slot is lost")
      }
    }
  }

  @Test func `three callers of whom two leave`() {
    expectNoFault(.brief) { program in
      let origin = ProgramOrigin()
      let cache = origin.limited(to: 1)
      let (first, second, third) = (Witness<Int>(), Witness<Int>(), Witness<Int>())
      program.thread(["gets": { first.watch(cache.get("a")) }, "leaves": { first.leave() }])
      program.thread(["gets": { second.watch(cache.get("b")) }])
      program.thread(["gets": { third.watch(cache.get("c")) }, "leaves": { third.leave() }])
      program.whenQuiet {
        origin.answer()
        if origin.most > 1 { return "\(origin.most) at once" }
        return first.complaint(mustEnd: false) ?? second.complaint()
          ?? third.complaint(mustEnd: false)
          ?? (isServed(cache, origin) ? nil : "a slot is lost")
      }
    }
  }

  @Test func `work that gets through its own limit borrows its slot`() {
    expectNoFault { program in
      let inside = Shared<Governed<FunctionSource<String, Int>>?>(nil)
      let (running, most, pause) = (Shared(0), Shared(0), Locked(()))
      let cache = FunctionSource<String, Int>.signal { key in
        if key.count == 1 { return inside.value?.get(key + "1") ?? .empty }
        return .deferred {
          running.value += 1
          most.value = max(most.value, running.value)
          pause.withLock { _ in }
          running.value -= 1
          return .just(1)
        }
      }.limited(to: 1)
      inside.value = cache
      for key in ["a", "b"] {
        let seen = Witness<Int>()
        program.thread(["gets": { seen.watch(cache.get(key)) }])
        program.whenQuiet {
          seen.complaint() ?? (seen.isCompleted(with: [1]) ? nil : seen.summary)
        }
      }
      program.whenQuiet {
        let last = Witness<Int>()
        last.watch(cache.get("c"))
        inside.value = nil
        if most.value > 1 { return "\(most.value) at once" }
        return last.isCompleted(with: [1]) ? nil : "a slot is lost"
      }
    }
  }

  @Test func `a full queue whose only waiter leaves`() {
    expectNoFault { program in
      let origin = ProgramOrigin()
      let cache = origin.limited(to: 1, maxWaiting: 1)
      let (first, second, third) = (Witness<Int>(), Witness<Int>(), Witness<Int>())
      first.watch(cache.get("a"))
      program.thread(["gets": { second.watch(cache.get("b")) }, "leaves": { second.leave() }])
      program.thread(["gets": { third.watch(cache.get("c")) }])
      program.whenQuiet {
        origin.answer()
        origin.answer()
        if origin.most > 1 { return "\(origin.most) at once" }
        if second.end == nil, third.values == [], third.end == nil { return "a waiter is lost" }
        return first.complaint() ?? third.complaint()
          ?? (isServed(cache, origin) ? nil : "a slot or a place is lost")
      }
    }
  }

  @Test func `a turn that comes while its caller leaves`() {
    expectNoFault { program in
      let (clock, origin) = (ManualClock(), ProgramOrigin())
      let cache = origin.rateLimited(to: 1, per: .seconds(1), clock: clock)
      let (first, second, third) = (Witness<Int>(), Witness<Int>(), Witness<Int>())
      first.watch(cache.get("a"))
      second.watch(cache.get("b"))
      program.thread(["leaves": { second.leave() }])
      program.thread(["waits": { clock.advance(by: .seconds(1)) }])
      program.thread(["gets": { third.watch(cache.get("c")) }])
      program.whenQuiet {
        if origin.runs.count > 2 { return "\(origin.runs.count) starts in a second" }
        clock.advance(by: .seconds(1))
        clock.advance(by: .seconds(1))
        origin.answer()
        clock.advance(by: .seconds(1))
        return first.complaint() ?? second.complaint(mustEnd: false) ?? third.complaint()
          ?? (isServed(cache, origin) ? nil : "a turn is lost")
      }
    }
  }

  @Test func `a trial of a broken circuit whose caller leaves`() {
    expectNoFault { program in
      let (clock, origin) = (ManualClock(), ProgramOrigin())
      let cache = origin.circuitBreaking(afterFailures: 1, for: .seconds(1), clock: clock)
      cache.get("x").subscribe(onFailed: { _ in })
      origin.answer(OriginError())
      clock.advance(by: .seconds(2))
      let (first, second) = (Witness<Int>(), Witness<Int>())
      program.thread(["gets": { first.watch(cache.get("a")) }, "leaves": { first.leave() }])
      program.thread(["gets": { second.watch(cache.get("b")) }, "answers": { origin.answer() }])
      program.whenQuiet {
        origin.answer()
        clock.advance(by: .seconds(2))
        return first.complaint(mustEnd: false) ?? second.complaint()
          ?? (isServed(cache, origin) ? nil : "the circuit stays open")
      }
    }
  }

  @Test func `two trials of a broken circuit`() {
    expectNoFault { program in
      let (clock, origin) = (ManualClock(), ProgramOrigin())
      let cache = origin.circuitBreaking(afterFailures: 1, for: .seconds(1), clock: clock)
      cache.get("x").subscribe(onFailed: { _ in })
      origin.answer(OriginError())
      clock.advance(by: .seconds(2))
      let (first, second) = (Witness<Int>(), Witness<Int>())
      program.thread(["gets": { first.watch(cache.get("a")) }])
      program.thread(["gets": { second.watch(cache.get("b")) }])
      program.whenQuiet {
        if origin.runs.count != 2 { return "\(origin.runs.count - 1) trials" }
        origin.answer(OriginError())
        clock.advance(by: .seconds(2))
        return first.complaint() ?? second.complaint()
          ?? (isServed(cache, origin) ? nil : "the circuit stays open")
      }
    }
  }

  @Test func `a batch whose window ends while it fills`() {
    expectNoFault { program in
      let (clock, asked) = (ManualClock(), Shared<[[String]]>([]))
      let cache = BulkSource<String, Int> { keys in
        .deferred {
          asked.value.append(keys)
          return .just(Dictionary(uniqueKeysWithValues: keys.map { ($0, $0.count) }))
        }
      }.batching(window: .seconds(1), max: 2, clock: clock)
      let (first, second) = (Witness<Int>(), Witness<Int>())
      program.thread(["gets": { first.watch(cache.get("a")) }])
      program.thread(["gets": { second.watch(cache.get("bb")) }])
      program.thread(["waits": { clock.advance(by: .seconds(1)) }])
      program.whenQuiet {
        clock.advance(by: .seconds(1))
        if asked.value.flatMap({ $0 }).sorted() != ["a", "bb"] { return "asked \(asked.value)" }
        if first.values != [1] || second.values != [2] { return "a value is lost" }
        return first.complaint() ?? second.complaint()
      }
    }
  }

  @Test func `a batch that is sent while a caller leaves`() {
    expectNoFault { program in
      let (clock, running) = (ManualClock(), Shared(0))
      let cache = BulkSource<String, Int> { keys in
        Signal { _, lifetime in
          running.value += 1
          lifetime.onEnd { running.value -= 1 }
        }
      }.batching(window: .seconds(1), max: 2, clock: clock)
      let (first, second) = (Witness<Int>(), Witness<Int>())
      program.thread(["gets": { first.watch(cache.get("a")) }, "leaves": { first.leave() }])
      program.thread(["gets": { second.watch(cache.get("b")) }, "leaves": { second.leave() }])
      program.thread(["waits": { clock.advance(by: .seconds(1)) }])
      program.whenQuiet {
        clock.advance(by: .seconds(1))
        return running.value == 0 ? nil : "a batch without callers goes on"
      }
    }
  }

  @Test func `a hedge that starts while the first answers and the caller leaves`() {
    expectNoFault { program in
      let (clock, first, second) = (ManualClock(), ProgramOrigin(1), ProgramOrigin(2))
      let cache = first.hedged(with: second, after: .seconds(1), clock: clock)
      let (seen, other) = (Witness<Int>(), Witness<Int>())
      seen.watch(cache.get("a"))
      other.watch(cache.get("a"))
      program.thread(["leaves": { seen.leave() }])
      program.thread(["waits": { clock.advance(by: .seconds(1)) }])
      program.thread(["answers": { first.answer() }])
      program.whenQuiet {
        if first.runningCount + second.runningCount > 0 { return "a run goes on" }
        if !other.isCompleted(with: [1]) { return "got \(other.summary)" }
        return seen.complaint() ?? other.complaint()
      }
    }
  }

  @Test func `two origins of a hedge that answer at once`() {
    expectNoFault { program in
      let (clock, first, second) = (ManualClock(), ProgramOrigin(1), ProgramOrigin(2))
      let cache = first.hedged(with: second, after: .seconds(1), clock: clock)
      let seen = Witness<Int>()
      seen.watch(cache.get("a"))
      clock.advance(by: .seconds(1))
      program.thread(["answers": { first.answer() }])
      program.thread(["answers": { second.answer() }])
      program.whenQuiet {
        if first.runningCount + second.runningCount > 0 { return "a run goes on" }
        return seen.complaint() ?? (seen.values.count == 1 ? nil : "got \(seen.summary)")
      }
    }
  }

  @Test func `a retry that begins while the caller leaves`() {
    expectNoFault { program in
      let origin = ProgramOrigin()
      let cache = origin.retrying(.immediate(attempts: 3), clock: ManualClock())
      let seen = Witness<Int>()
      seen.watch(cache.get("a"))
      program.thread([
        "fails": { origin.answer(OriginError()) }, "fails again": { origin.answer(OriginError()) },
      ])
      program.thread(["leaves": { seen.leave() }])
      program.whenQuiet {
        origin.runningCount > 0 ? "a run without callers goes on" : seen.complaint()
      }
    }
  }

  @Test func `a time limit that passes while the answer comes`() {
    expectNoFault(.brief) { program in
      let (clock, origin) = (ManualClock(), ProgramOrigin())
      let cache = origin.timingOut(after: .seconds(1), clock: clock).reusingInFlight()
      let (first, second) = (Witness<Int>(), Witness<Int>())
      program.thread([
        "gets": { first.watch(cache.get("a")) }, "answers": { origin.answer() },
      ])
      program.thread(["waits": { clock.advance(by: .seconds(1)) }])
      program.thread(["gets": { second.watch(cache.get("a")) }])
      program.whenQuiet {
        clock.advance(by: .seconds(1))
        if origin.runningCount > 0 { return "a run goes on" }
        return first.complaint() ?? second.complaint()
      }
    }
  }

  @Test func `a batch whose call waits for one of its callers`() {
    expectNoFault { program in
      let (outer, ends) = (Shared<InFlightReuse<FunctionSource<String, Int>>?>(nil), Shared(0))
      let batched = BulkSource<String, Int> { keys in
        (outer.value?.get("x") ?? .empty).map { ["b": $0] }.merge(Signal.just(["a": 1]))
      }.batching(window: .seconds(1), max: 2, clock: ManualClock())
      let cache = FunctionSource<String, Int>.signal { _ in
        Signal<Int> { observer, lifetime in
          batched.get("a").run(
            Observer(next: { _ in }) { event in
              if event.isTerminal { ends.value += 1 }
            }, lifetime)
        }
      }.reusingInFlight()
      outer.value = cache
      let (first, second) = (Witness<Int>(), Witness<Int>())
      program.thread(["gets x, which gets a": { first.watch(cache.get("x")) }])
      program.thread(["gets b": { second.watch(batched.get("b")) }])
      program.whenQuiet {
        first.leave()
        outer.value = nil
        if ends.value > 1 { return "a caller ended \(ends.value) times" }
        return first.complaint() ?? second.complaint(mustEnd: false)
      }
    }
  }

  @Test func `work that stops waiting for a flight to which it has lent its slot`() {
    expectNoFault { program in
      let (slots, origin) = (ConcurrencyLimiter(2, reserved: 0), ProgramOrigin())
      let (stop, first, other) = (PublishSubject<Void>(), Witness<Int>(), Witness<Int>())
      let inner = origin.limited(by: slots).reusingInFlight()
      let outer = FunctionSource<String, Int>.signal { key in
        if key != "x" { return origin.get(key) }
        return inner.get("a").take(until: stop.signal).concat(origin.get(key))
      }.limited(by: slots)
      other.watch(inner.get("a"))
      first.watch(outer.get("x"))
      other.leave()
      for key in ["b", "c"] { outer.get(key).subscribe() }
      program.thread(["stops": { stop.next(()) }])
      program.thread(["gets d": { outer.get("d").subscribe() }])
      program.whenQuiet {
        if origin.most > 2 { return "\(origin.most) at once" }
        for _ in 0..<4 { origin.answer() }
        if origin.most > 2 { return "\(origin.most) at once" }
        return first.isCompleted(with: [1]) ? first.complaint() : "got \(first.summary)"
      }
    }
  }

  @Test func `a trial of a broken circuit that ends without an answer`() {
    expectNoFault { program in
      let (clock, origin) = (ManualClock(), ProgramOrigin())
      let cache = origin.circuitBreaking(afterFailures: 1, for: .seconds(1), clock: clock)
      cache.get("x").subscribe(onFailed: { _ in })
      origin.answer(OriginError())
      clock.advance(by: .seconds(2))
      let (first, second, third) = (Witness<Int>(), Witness<Int>(), Witness<Int>())
      program.thread(["gets": { first.watch(cache.get("a")) }, "leaves": { first.leave() }])
      program.thread(["gets": { second.watch(cache.get("b")) }])
      program.whenQuiet {
        if origin.runningCount == 0 { third.watch(cache.get("c")) }
        return origin.runningCount == 1 ? nil : "\(origin.runningCount) trials"
      }
    }
  }

  @Test func `a failure from before a circuit has closed again`() {
    expectNoFault { program in
      let (clock, origin) = (ManualClock(), ProgramOrigin())
      let cache = origin.circuitBreaking(afterFailures: 1, for: .seconds(1), clock: clock)
      let (first, second) = (Witness<Int>(), Witness<Int>())
      first.watch(cache.get("a"))
      cache.get("x").subscribe(onFailed: { _ in })
      origin.answer(OriginError(), of: "x")
      clock.advance(by: .seconds(2))
      program.thread(["fails": { origin.answer(OriginError(), of: "a") }])
      program.thread([
        "tries": { second.watch(cache.get("b")) }, "answers": { origin.answer(of: "b") },
      ])
      program.whenQuiet {
        if !second.isCompleted(with: [1]) { return "the trial got \(second.summary)" }
        return first.complaint() ?? (isServed(cache, origin) ? nil : "the circuit opened again")
      }
    }
  }
}
