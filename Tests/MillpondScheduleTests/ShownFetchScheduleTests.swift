import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// What a multiplexer shows of its fetches agrees with what it keeps when all is quiet.
@Suite(.schedules) struct ShownFetchScheduleTests {
  typealias Users = MultiplexerMap<String, Int>

  /// The last state that is shown is what a look finds, after a fetch beside something else.
  private func fetch(
    location: SourceLocation = #_sourceLocation, _ write: @escaping (Users) -> Void
  ) {
    expectNoFault(location: location) { program in
      let (origin, seen, got) = (ProgramOrigin(3), Witness<Int>(), Witness<Int>())
      let users = Users(over: origin, clock: ManualClock())
      seen.watch(users.states(of: "a").map { $0.value ?? 0 })
      program.thread([
        "gets": { got.watch(users.get("a")) }, "answers": { origin.answer() },
      ])
      program.thread(["writes": { write(users) }])
      program.whenQuiet {
        origin.answer()
        let found = users.current("a") ?? 0
        if seen.values.last != found { return "\(found) is stored, shown: \(seen.values)" }
        return seen.complaint(mustEnd: false) ?? got.complaint()
      }
    }
  }

  @Test func `states beside a fetch and a removal`() {
    fetch { $0.remove("a") }
  }

  @Test func `states beside a fetch and a removal of everything`() {
    fetch { $0.removeAll() }
  }

  @Test func `states beside a fetch whose caller leaves`() {
    expectNoFault(.brief) { program in
      let (origin, seen, got) = (ProgramOrigin(3), Witness<Int>(), Witness<Int>())
      let users = Users(over: origin, clock: ManualClock())
      let isLoading = Shared(false)
      seen.watch(
        users.states(of: "a").map { state in
          isLoading.value = state.isLoading
          return state.value ?? 0
        })
      got.watch(users.get("a"))
      program.thread(["leaves": { got.leave(isWatched: true) }])
      program.thread(["answers": { origin.answer() }])
      program.whenQuiet {
        let found = users.current("a") ?? 0
        if seen.values.last != found { return "\(found) is stored, shown: \(seen.values)" }
        if isLoading.value { return "a fetch is shown that is over" }
        return seen.complaint(mustEnd: false) ?? got.complaint()
      }
    }
  }

  /// A failure that something newer has overtaken is not remembered.
  private func failure(
    location: SourceLocation = #_sourceLocation, _ write: @escaping (Users) -> Void
  ) {
    expectNoFault(.brief, location: location) { program in
      let (origin, first, state) = (ProgramOrigin(), Witness<Int>(), Witness<ResourceState<Int>>())
      let users = Users(
        over: origin, freshness: FreshnessPolicy(failureLife: { _ in .seconds(10) }),
        clock: ManualClock())
      first.watch(users.get("a"))
      let old = origin.runs[0]
      program.thread([
        "fails": {
          old.observer?.failed(OriginError())
          old.observer = nil
        }
      ])
      program.thread(["writes": { write(users) }, "answers": { origin.answer() }])
      program.whenQuiet {
        origin.answer()
        state.watch(users.states(of: "a"))
        if let error = state.values.last?.error { return "an older failure is shown: \(error)" }
        return first.complaint()
      }
    }
  }

  @Test func `a failure that a newer fetch has overtaken`() {
    failure { $0.refresh("a").subscribe() }
  }

  @Test func `a failure that a set has overtaken`() {
    failure { $0.set(2, for: "a") }
  }

  @Test func `a failure that a removal has overtaken`() {
    failure { $0.remove("a") }
  }

  @Test func `two refreshes follow each other`() {
    expectNoFault(.brief) { program in
      let (origin, first, second) = (ProgramOrigin(), Witness<Int>(), Witness<Int>())
      let users = Users(over: origin, clock: ManualClock())
      for (value, seen) in [(1, first), (2, second)] {
        program.thread([
          "refreshes": {
            origin.value = value
            seen.watch(users.refresh("a"))
          },
          "answers": { origin.answer() },
        ])
      }
      program.whenQuiet {
        for _ in 0..<2 { origin.answer() }
        if origin.most > 1 { return "\(origin.most) at once" }
        if users.current("a") != origin.runs.last?.value { return "an older value is stored" }
        return first.complaint() ?? second.complaint()
      }
    }
  }

  @Test func `a set ends a refresh that has no caller`() {
    expectNoFault(.brief) { program in
      let (origin, order) = (ProgramOrigin(), CallOrder())
      let users = Users(over: origin, clock: ManualClock())
      program.thread(["refreshes": { order.call("refresh") { users.refresh("a") } }])
      program.thread(["sets 2": { order.call("set") { users.set(2, for: "a") } }])
      program.whenQuiet {
        order.isBefore("refresh", "set") && origin.runningCount > 0 ? "the fetch goes on" : nil
      }
    }
  }
}
