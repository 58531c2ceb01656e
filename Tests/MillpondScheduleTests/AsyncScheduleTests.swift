import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Tasks go on after each event, and each cancellation arrives.
@Suite(.schedules) struct AsyncScheduleTests {
  @Test func `a loop over values whose task is cancelled`() {
    expectNoFault { program in
      let (subject, isOver) = (PublishSubject<Int>(), Shared(false))
      let (seen, task) = (Shared<[Int]>([]), Shared<Task<Void, Never>?>(nil))
      let running = Shared(0)
      let signal = Signal<Int> { observer, lifetime in
        running.value += 1
        lifetime.onEnd { running.value -= 1 }
        subject.signal.run(observer, lifetime)
      }
      program.thread([
        "loops": {
          task.value = Task {
            do { for try await value in signal.values { seen.value.append(value) } } catch {}
            isOver.value = true
          }
        },
        "cancels": { task.value?.cancel() },
      ])
      program.thread(["sends 1": { subject.next(1) }, "sends 2": { subject.next(2) }])
      program.whenQuiet {
        if !isOver.value { return "the loop never ended" }
        if running.value > 0 { return "the signal goes on" }
        return [[], [1], [2], [1, 2]].contains(seen.value) ? nil : "got \(seen.value)"
      }
    }
  }

  @Test func `a loop over values that end`() {
    expectNoFault { program in
      let (subject, seen, isOver) = (PublishSubject<Int>(), Shared<[Int]>([]), Shared(false))
      let values = subject.signal.values
      program.thread([
        "loops": {
          Task {
            for try await value in values { seen.value.append(value) }
            isOver.value = true
          }
        }
      ])
      program.thread([
        "sends 1": { subject.next(1) }, "sends 2": { subject.next(2) },
        "completes": { subject.completed() },
      ])
      program.whenQuiet {
        isOver.value && seen.value == [1, 2] ? nil : "got \(seen.value), over: \(isOver.value)"
      }
    }
  }

  @Test func `asynchronous work that ends while its caller leaves`() {
    expectNoFault { program in
      let (first, second) = (Witness<Int>(), Witness<Int>())
      let (begun, ended, pause) = (Shared(0), Shared(0), Locked(()))
      let signal = Signal<Int>.async {
        begun.value += 1
        pause.withLock { _ in }
        await Task.yield()
        ended.value += 1
        return 1
      }
      program.thread(["subscribes": { first.watch(signal) }, "leaves": { first.leave() }])
      program.thread(["subscribes": { second.watch(signal) }])
      program.whenQuiet {
        if begun.value != ended.value { return "the work never ended" }
        if !second.isCompleted(with: [1]) { return "got \(second.summary)" }
        return first.complaint(mustEnd: false) ?? second.complaint()
      }
    }
  }

  @Test func `asynchronous work that fails while it is cancelled`() {
    expectNoFault { program in
      let (seen, pause) = (Witness<Int>(), Locked(()))
      let signal = Signal<Int>.async {
        await Task.yield()
        pause.withLock { _ in }
        try Task.checkCancellation()
        throw OriginError()
      }
      program.thread(["subscribes": { seen.watch(signal) }, "leaves": { seen.leave() }])
      program.thread(["passes": { pause.withLock { _ in } }])
      program.whenQuiet {
        seen.values.isEmpty ? seen.complaint(mustEnd: false) : "got \(seen.summary)"
      }
    }
  }

  @Test func `asynchronous work that two gets share`() {
    expectNoFault { program in
      let (gate, begun) = (Promise<Int>(), Shared(0))
      let cache = FunctionSource<String, Int> { _ in
        begun.value += 1
        return try await gate.outcome.value
      }.reusingInFlight()
      let (first, second) = (Witness<Int>(), Witness<Int>())
      program.thread(["gets": { first.watch(cache.get("a")) }, "leaves": { first.leave() }])
      program.thread(["gets": { second.watch(cache.get("a")) }])
      program.thread(["answers": { gate.keep(by: .just(1)) }])
      program.whenQuiet {
        if !second.isCompleted(with: [1]) { return "got \(second.summary)" }
        return first.complaint(mustEnd: false) ?? second.complaint()
      }
    }
  }

  @Test func `a get that is awaited while its flight is left and the key is removed`() {
    expectNoFault { program in
      let (memory, origin) = (MemoryCache<String, Int>(countLimit: 10), ProgramOrigin())
      let cache = memory.layered(over: origin).reusingInFlight()
      let (result, task) = (Shared<Int?>(nil), Shared<Task<Void, Never>?>(nil))
      let seen = Witness<Int>()
      program.thread([
        "awaits": { task.value = Task { result.value = (try? await cache.get("a").value) ?? -1 } },
        "cancels": { task.value?.cancel() },
      ])
      program.thread(["gets": { seen.watch(cache.get("a")) }])
      program.whenQuiet {
        origin.answer()
        if result.value == nil { return "the task never went on" }
        if origin.runningCount > 0 { return "a run goes on" }
        return seen.complaint() ?? (seen.isCompleted(with: [1]) ? nil : "got \(seen.summary)")
      }
    }
  }

  @Test func `a promise that fails while it is awaited`() {
    expectNoFault { program in
      let (promise, ends) = (Promise<Int>(), Shared(0))
      for _ in 0..<2 {
        program.thread([
          "awaits": {
            Task {
              do { _ = try await promise.outcome.value } catch is OriginError { ends.value += 1 }
            }
          }
        ])
      }
      program.thread(["breaks": { promise.keep(by: .fail(OriginError())) }])
      program.whenQuiet { ends.value == 2 ? nil : "\(ends.value) tasks went on" }
    }
  }

  @Test func `two tasks that await one value, of which one is cancelled`() {
    expectNoFault { program in
      let origin = ProgramOrigin()
      let shared = origin.get("a").replayLast()
      let (task, ends, sum) = (Shared<Task<Void, Never>?>(nil), Shared(0), Shared(0))
      program.thread([
        "awaits": {
          task.value = Task {
            _ = try? await shared.value
            ends.value += 1
          }
        },
        "cancels": { task.value?.cancel() },
      ])
      program.thread([
        "awaits": {
          Task {
            sum.value += try await shared.value
            ends.value += 1
          }
        }
      ])
      program.whenQuiet {
        // The second one waits for an answer.
        if ends.value != 1 { return "\(ends.value) tasks went on" }
        return origin.runningCount == 1 ? nil : "\(origin.runningCount) runs"
      }
    }
  }
}
