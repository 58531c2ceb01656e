import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Changes of a multiplexer that its store ends later are waited for, shown and taken back in order.
@Suite(.schedules) struct LateChangeScheduleTests {
  typealias Memory = MemoryCache<String, Int>
  typealias Users = MultiplexerMap<String, Int>

  /// A map that persists in a store whose changes end later.
  private func late(over origin: ProgramOrigin, countLimit: Int = 10) -> (Users, SlowStore) {
    let store = SlowStore()
    let users = Users(
      over: origin, countLimit: countLimit,
      persistence: Persistence(store.cache(isLate: true, removesLate: true)),
      clock: ManualClock())
    return (users, store)
  }

  /// A flush succeeds only when the value is stored, however the save that it waits for ends.
  private func flush(
    location: SourceLocation = #_sourceLocation, _ error: (any Error)?, isSetBefore: Bool = false
  ) {
    expectNoFault(.brief, location: location) { program in
      let ((users, store), flush) = (late(over: ProgramOrigin()), Witness<Void>())
      let isEarly = Shared(false)
      if isSetBefore { users.set(1, for: "a") }
      program.thread([
        "sets 1": { if !isSetBefore { users.set(1, for: "a") } },
        "flushes": {
          flush.watch(users.flush().onNext { if store.value != 1 { isEarly.value = true } })
        },
      ])
      program.thread(["ends the save": { store.finish(error) }])
      program.whenQuiet {
        for _ in 0..<4 { store.finish() }
        if isEarly.value { return "the flush succeeded before the value was stored" }
        if store.value != 1 { return "the value is not stored" }
        return flush.complaint()
      }
    }
  }

  @Test func `a flush while a value is being saved`() {
    flush(nil)
  }

  @Test(arguments: [false, true])
  func `a flush while a value fails to be saved`(isSetBefore: Bool) {
    flush(OriginError(), isSetBefore: isSetBefore)
  }

  @Test func `a flush while a value fails to be removed`() {
    expectNoFault(.brief) { program in
      let ((users, store), flush) = (late(over: ProgramOrigin()), Witness<Void>())
      let isEarly = Shared(false)
      users.set(1, for: "a")
      store.finish()
      program.thread([
        "removes": { users.remove("a") },
        "flushes": {
          flush.watch(users.flush().onNext { if store.value != nil { isEarly.value = true } })
        },
      ])
      program.thread(["ends the removal": { store.finish(OriginError()) }])
      program.whenQuiet {
        for _ in 0..<4 { store.finish() }
        if isEarly.value { return "the flush succeeded before the value was removed" }
        return flush.complaint()
      }
    }
  }

  @Test func `a flush after a failed save beside another set`() {
    expectNoFault(.long) { program in
      let (users, store) = late(over: ProgramOrigin())
      users.set(1, for: "a")
      store.finish(OriginError())
      store.finish()
      program.thread(["flushes": { users.flush() }])
      program.thread(["sets 2": { users.set(2, for: "a") }])
      program.thread(["ends the saves": { store.finish() }])
      program.whenQuiet {
        for _ in 0..<4 { store.finish() }
        return store.value == 2 ? nil : "\(store.value ?? 0) is stored"
      }
    }
  }

  /// A get after a removal does not find what is still stored below, however the removal ends.
  private func removal(location: SourceLocation = #_sourceLocation, _ error: (any Error)?) {
    expectNoFault(.brief, location: location) { program in
      let origin = ProgramOrigin(7)
      let ((users, store), seen) = (late(over: origin), Witness<Int>())
      users.set(1, for: "a")
      store.finish()
      program.thread([
        "removes": { users.remove("a") }, "gets": { seen.watch(users.get("a")) },
      ])
      program.thread(["ends the removal": { store.finish(error) }])
      program.whenQuiet {
        if users.current("a") == 1 { return "the removed value is in memory" }
        store.finish()
        origin.answer()
        return seen.isCompleted(with: [7]) ? seen.complaint() : "got \(seen.summary)"
      }
    }
  }

  @Test func `a get while a value is being removed`() {
    removal(nil)
  }

  @Test func `a get while a value fails to be removed`() {
    removal(OriginError())
  }

  @Test func `states while a value is being saved for which memory has no room`() {
    states(1, memory: 0) { $0.set(1, for: "a") }
  }

  @Test func `states while a value is being removed`() {
    states(0, first: 1) { $0.remove("a") }
  }

  /// A change, the end of its delay, and an observer that in the end shows a value, or zero for none.
  private func states(
    _ value: Int, first: Int? = nil, memory countLimit: Int = 10,
    _ change: @escaping @Sendable (Users) -> Void
  ) {
    expectNoFault(.brief) { program in
      let ((users, store), seen) = (
        late(over: ProgramOrigin(), countLimit: countLimit), Witness<Int>()
      )
      if let first {
        users.set(first, for: "a")
        store.finish()
      }
      program.thread(["changes": { change(users) }])
      program.thread(["observes": { seen.watch(users.states(of: "a").map { $0.value ?? 0 }) }])
      program.thread(["ends the change": { store.finish() }])
      program.whenQuiet {
        store.finish()
        return seen.values.last == value ? seen.complaint(mustEnd: false) : "shown: \(seen.values)"
      }
    }
  }

  @Test func `a refresh while a set is encoded`() {
    expectNoFault(.brief) { program in
      let (origin, base) = (ProgramOrigin(), Memory(countLimit: 10, clock: ManualClock()))
      let store = base.mapValues(
        Codec<Int, Int>.asynchronous(encode: { $0 }, decode: { $0 }))
      let users = Users(over: origin, persistence: Persistence(store), clock: ManualClock())
      program.thread(["sets 2": { users.set(2, for: "a") }])
      program.thread(["refreshes": { users.refresh("a").subscribe() }])
      program.thread(["answers": { origin.answer() }, "answers again": { origin.answer() }])
      program.whenQuiet { users.disagreement(with: base) }
    }
  }
}
