import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Signals of several threads keep the grammar, and lose nothing.
@Suite(.schedules) struct SignalScheduleTests {
  @Test func `two senders, and a subscriber that leaves`() {
    expectNoFault { program in
      let (subject, seen, other) = (PublishSubject<Int>(), Witness<Int>(), Witness<Int>())
      seen.watch(subject.signal)
      other.watch(subject.signal)
      program.thread(["leaves": { seen.leave() }])
      for value in 1...2 { program.thread(["sends \(value)": { subject.next(value) }]) }
      program.whenQuiet {
        if other.values.sorted() != [1, 2] { return "got \(other.values)" }
        return seen.complaint() ?? other.complaint(mustEnd: false)
      }
    }
  }

  @Test func `a value and a completion`() {
    expectNoFault { program in
      let (subject, seen) = (PublishSubject<Int>(), Witness<Int>())
      seen.watch(subject.signal)
      program.thread(["sends 1": { subject.next(1) }, "sends 2": { subject.next(2) }])
      program.thread(["completes": { subject.completed() }])
      program.whenQuiet {
        seen.complaint()
          ?? (seen.values == Array([1, 2].prefix(seen.values.count)) ? nil : "out of order")
      }
    }
  }

  @Test func `a subscription during a delivery`() {
    expectNoFault { program in
      let (subject, first, second) = (PublishSubject<Int>(), Witness<Int>(), Witness<Int>())
      first.watch(subject.signal)
      program.thread(["sends 1": { subject.next(1) }, "completes": { subject.completed() }])
      program.thread(["subscribes": { second.watch(subject.signal) }])
      program.whenQuiet {
        first.complaint() ?? second.complaint() ?? (first.values == [1] ? nil : "a value is lost")
      }
    }
  }

  @Test func `a replayed run that ends while another joins`() {
    expectNoFault { program in
      let origin = ProgramOrigin()
      let replayed = origin.get("a").replayLast()
      let (first, second) = (Witness<Int>(), Witness<Int>())
      program.thread(["subscribes": { first.watch(replayed) }, "answers": { origin.answer() }])
      program.thread(["subscribes": { second.watch(replayed) }, "answers": { origin.answer() }])
      program.whenQuiet {
        if origin.most > 1 { return "two runs at a time" }
        // One that begins after the last answer is not answered.
        if origin.runningCount > 0 { return nil }
        if first.values.count != 1 || second.values.count != 1 { return "a value is lost" }
        return first.complaint() ?? second.complaint()
      }
    }
  }

  @Test func `a replayed run whose last subscriber leaves while another joins`() {
    expectNoFault { program in
      let origin = ProgramOrigin()
      let replayed = origin.get("a").replayLast()
      let (first, second) = (Witness<Int>(), Witness<Int>())
      first.watch(replayed)
      program.thread(["leaves": { first.leave() }])
      program.thread(["subscribes": { second.watch(replayed) }, "answers": { origin.answer() }])
      program.whenQuiet {
        if origin.runningCount > 0 { return "a run without subscribers goes on" }
        return first.complaint() ?? second.complaint()
          ?? (second.values == [1] ? nil : "a value is lost")
      }
    }
  }

  @Test func `a late subscriber of the last two values beside the third`() {
    expectNoFault { program in
      let (subject, first, late) = (PublishSubject<Int>(), Witness<Int>(), Witness<Int>())
      let replayed = subject.signal.replay(2)
      first.watch(replayed)
      subject.next(1)
      program.thread([
        "sends 2": { subject.next(2) }, "sends 3": { subject.next(3) },
        "completes": { subject.completed() },
      ])
      program.thread(["subscribes": { late.watch(replayed) }])
      program.whenQuiet {
        if first.values != [1, 2, 3] { return "got \(first.summary)" }
        if ![[1, 2, 3], [2, 3]].contains(late.values) { return "late: \(late.summary)" }
        return first.complaint() ?? late.complaint()
      }
    }
  }

  @Test func `a shared run that is left and joined`() {
    expectNoFault { program in
      let origin = ProgramOrigin()
      let shared = origin.get("a").share()
      let (first, second) = (Witness<Int>(), Witness<Int>())
      program.thread(["subscribes": { first.watch(shared) }, "leaves": { first.leave() }])
      program.thread(["subscribes": { second.watch(shared) }, "leaves": { second.leave() }])
      program.whenQuiet {
        origin.runningCount > 0 ? "a run without subscribers goes on" : nil
      }
    }
  }

  @Test func `a lifetime that ends while a teardown is added`() {
    expectNoFault { program in
      let lifetime = Lifetime()
      let count = Shared(0)
      program.thread(["adds": { lifetime.onEnd { count.value += 1 } }])
      program.thread(["ends": { lifetime.end() }])
      program.whenQuiet { count.value == 1 ? nil : "a teardown ran \(count.value) times" }
    }
  }

  @Test func `a lifetime that ends while a child is made and ends`() {
    expectNoFault { program in
      let parent = Lifetime()
      let count = Shared(0)
      program.thread([
        "makes a child": {
          let child = parent.child()
          child.onEnd { count.value += 1 }
          child.end()
        }
      ])
      program.thread(["ends": { parent.end() }])
      program.whenQuiet { count.value == 1 ? nil : "a teardown ran \(count.value) times" }
    }
  }

  @Test func `a promise that is kept while it is awaited`() {
    expectNoFault { program in
      let promise = Promise<Int>()
      let (first, second) = (Witness<Int>(), Witness<Int>())
      program.thread(["subscribes": { first.watch(promise.outcome) }])
      program.thread(["subscribes": { second.watch(promise.outcome) }])
      program.thread(["keeps": { promise.keep(by: .just(1)) }])
      program.whenQuiet {
        if first.values != [1] || second.values != [1] { return "a value is lost" }
        return first.complaint() ?? second.complaint()
      }
    }
  }

  @Test func `two threads into a merge`() {
    expectNoFault { program in
      let (left, right, seen) = (PublishSubject<Int>(), PublishSubject<Int>(), Witness<Int>())
      seen.watch(left.signal.merge(right.signal))
      program.thread(["sends 1": { left.next(1) }, "completes": { left.completed() }])
      program.thread(["sends 2": { right.next(2) }, "completes": { right.completed() }])
      program.whenQuiet {
        seen.complaint() ?? (seen.values.sorted() == [1, 2] ? nil : "a value is lost")
      }
    }
  }

  @Test func `two threads into the latest of both`() {
    expectNoFault { program in
      let (left, right, seen) = (PublishSubject<Int>(), PublishSubject<Int>(), Witness<Int>())
      seen.watch(combineLatest(left.signal, right.signal).map { $0 * 10 + $1 })
      program.thread(["sends 1": { left.next(1) }, "completes": { left.completed() }])
      program.thread(["sends 2": { right.next(2) }, "completes": { right.completed() }])
      program.whenQuiet { seen.complaint() ?? (seen.values == [12] ? nil : "got \(seen.values)") }
    }
  }

  @Test func `two threads into a zip`() {
    expectNoFault { program in
      let (left, right, seen) = (PublishSubject<Int>(), PublishSubject<Int>(), Witness<Int>())
      seen.watch(zip(left.signal, right.signal).map { $0 * 10 + $1 })
      program.thread(["sends 1": { left.next(1) }, "completes": { left.completed() }])
      program.thread(["sends 2": { right.next(2) }, "completes": { right.completed() }])
      program.whenQuiet { seen.complaint() ?? (seen.values == [12] ? nil : "got \(seen.values)") }
    }
  }

  @Test func `a switch to another signal while the former one sends`() {
    expectNoFault { program in
      let (outer, inner, seen) = (PublishSubject<Int>(), PublishSubject<Int>(), Witness<Int>())
      seen.watch(outer.signal.flatMap(.latest) { $0 == 0 ? inner.signal : .just(9) })
      outer.next(0)
      program.thread(["sends 1": { inner.next(1) }, "completes": { inner.completed() }])
      program.thread(["switches": { outer.next(1) }, "completes": { outer.completed() }])
      program.whenQuiet {
        if seen.values.last != 9 { return "got \(seen.values)" }
        return seen.complaint()
      }
    }
  }

  @Test func `a concatenation whose parts end on two threads`() {
    expectNoFault { program in
      let (first, seen) = (PublishSubject<Int>(), Witness<Int>())
      let outer = PublishSubject<Signal<Int>>()
      seen.watch(outer.signal.flatMap(.concat) { $0 })
      outer.next(first.signal)
      program.thread([
        "ends the first": {
          first.next(1); first.completed()
        }
      ])
      program.thread(["adds": { outer.next(.just(2)) }, "completes": { outer.completed() }])
      program.whenQuiet {
        seen.complaint() ?? (seen.values == [1, 2] ? nil : "got \(seen.values)")
      }
    }
  }

  @Test func `a race that two threads win`() {
    expectNoFault { program in
      let (left, right, seen) = (PublishSubject<Int>(), PublishSubject<Int>(), Witness<Int>())
      seen.watch(.race([left.signal, right.signal]))
      program.thread(["sends 1": { left.next(1) }, "completes": { left.completed() }])
      program.thread(["sends 2": { right.next(2) }, "completes": { right.completed() }])
      program.whenQuiet {
        seen.complaint() ?? (seen.values.count == 1 ? nil : "got \(seen.values)")
      }
    }
  }

  @Test func `the first two of three values of two threads`() {
    expectNoFault { program in
      let (subject, seen) = (PublishSubject<Int>(), Witness<Int>())
      seen.watch(subject.signal.take(2))
      program.thread(["sends 1": { subject.next(1) }, "sends 2": { subject.next(2) }])
      program.thread(["sends 3": { subject.next(3) }])
      program.whenQuiet {
        seen.complaint() ?? (seen.values.count == 2 ? nil : "got \(seen.values)")
      }
    }
  }

  @Test func `an awaited value whose task is cancelled`() {
    expectNoFault { program in
      let (origin, ends) = (ProgramOrigin(), Shared(0))
      let task = Shared<Task<Void, Never>?>(nil)
      program.thread([
        "awaits": {
          task.value = Task {
            _ = try? await origin.get("a").value
            ends.value += 1
          }
        },
        "cancels": { task.value?.cancel() },
      ])
      program.thread(["answers": { origin.answer() }])
      program.whenQuiet {
        if ends.value != 1 { return "the task never went on" }
        return origin.runningCount > 0 ? "the work was not cancelled" : nil
      }
    }
  }

  @Test func `a debounced value, and the end`() {
    expectNoFault { program in
      let (clock, subject, seen) = (ManualClock(), PublishSubject<Int>(), Witness<Int>())
      seen.watch(subject.signal.debounce(.seconds(1), clock: clock))
      program.thread(["sends 1": { subject.next(1) }, "completes": { subject.completed() }])
      program.thread(["waits": { clock.advance(by: .seconds(1)) }])
      program.whenQuiet { seen.complaint() ?? (seen.values == [1] ? nil : "got \(seen.values)") }
    }
  }

  @Test func `a timeout at the moment of the value`() {
    expectNoFault { program in
      let (clock, subject, seen) = (ManualClock(), PublishSubject<Int>(), Witness<Int>())
      seen.watch(subject.signal.timeout(.seconds(1), clock: clock))
      program.thread(["sends 1": { subject.next(1) }, "completes": { subject.completed() }])
      program.thread(["waits": { clock.advance(by: .seconds(1)) }])
      program.whenQuiet { seen.complaint() }
    }
  }

  /// A subscription beside values that are on their way to others, which their senders deliver.
  private func subscription(
    location: SourceLocation = #_sourceLocation,
    _ make: @escaping (Signal<Int>) -> Signal<Int>
  ) {
    expectNoFault(location: location) { program in
      let (subject, first, second) = (PublishSubject<Int>(), Witness<Int>(), Witness<Int>())
      let (signal, subscriber, isForeign) = (make(subject.signal), Shared<UInt>(0), Shared(false))
      first.watch(
        signal.onNext { _ in
          if subscriber.value == threadMark() { isForeign.value = true }
        })
      for value in 1...2 { program.thread(["sends \(value)": { subject.next(value) }]) }
      program.thread([
        "subscribes": {
          subscriber.value = threadMark()
          second.watch(signal)
        }
      ])
      program.whenQuiet {
        if isForeign.value { return "the subscriber's thread delivered to another one" }
        if first.values.sorted() != [1, 2] { return "got \(first.values)" }
        return first.complaint(mustEnd: false) ?? second.complaint(mustEnd: false)
      }
    }
  }

  @Test func `a subscription to a subject beside its values`() {
    subscription { $0 }
  }

  @Test func `a subscription to a running share beside its values`() {
    subscription { $0.share() }
  }

  /// Nothing that begins after a disposal reaches a closure of the subscription.
  private func disposal(
    location: SourceLocation = #_sourceLocation,
    _ make: @escaping (Signal<Int>) -> Signal<Int>
  ) {
    expectNoFault(location: location) { program in
      let (sender, hasLeft) = (Shared<Observer<Int>?>(nil), Shared(false))
      let (seen, isLate) = (Witness<Int>(), Shared(false))
      let source = Signal<Int>.create { observer, _ in sender.value = observer }
      seen.watch(
        make(source).map { value in
          if hasLeft.value { isLate.value = true }
          return value
        })
      program.thread(["sends 1": { sender.value?.next(1) }, "sends 2": { sender.value?.next(2) }])
      program.thread([
        "leaves": {
          seen.leave()
          hasLeft.value = true
        }
      ])
      program.whenQuiet {
        isLate.value ? "a closure ran after the disposal" : seen.complaint(mustEnd: false)
      }
    }
  }

  @Test func `a callback that sends while its subscriber leaves`() {
    disposal { $0 }
  }

  @Test func `a merge that sends while its subscriber leaves`() {
    disposal { $0.merge(.never) }
  }

  @Test func `a signal with an end from outside that sends while its subscriber leaves`() {
    disposal { $0.take(until: Signal<Int>.never) }
  }

  @Test func `the progress of two threads in a merge`() {
    expectNoFault { program in
      let (left, right, seen) = (PublishSubject<Int>(), PublishSubject<Int>(), Witness<Int>())
      seen.watch(left.signal.merge(right.signal))
      for (name, subject) in [("left", left), ("right", right)] {
        program.thread([
          "the \(name) one": { subject.progress(SignalProgress(completed: 1, total: 2)) }
        ])
      }
      program.whenQuiet {
        let whole = SignalProgress(completed: 2, total: 4)
        return seen.progress == whole ? seen.complaint(mustEnd: false) : "the last sum is older"
      }
    }
  }
}
