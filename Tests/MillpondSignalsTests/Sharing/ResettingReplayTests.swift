import MillpondSignals
import MillpondTesting
import Testing

/// Replays that forget a run when it fails.
@Suite struct ResettingReplayTests {
  let source = TestSource<Int>()
  let early = Recorder<Int>()
  let late = Recorder<Int>()

  @Test(arguments: [ReplayPolicy.cancelWhenUnobserved, .keepRunning])
  func `waiting subscribers get the failure, the next one a new run without old values`(
    policy: ReplayPolicy
  ) {
    let shared = source.signal.replayLast(policy, resetsOnFailure: true)
    early.subscribe(to: shared)
    source.next(1)
    source.failed(Trouble.some)

    late.subscribe(to: shared)
    source.next(2)

    #expect(early.transcript == ["next 1", "failed some"])
    #expect(late.transcript == ["next 2"])
    #expect(source.subscriptions == 2)
  }

  @Test func `a run that completes is settled`() {
    let shared = source.signal.replayLast(resetsOnFailure: true)
    early.subscribe(to: shared)
    source.next(1)
    source.completed()

    late.subscribe(to: shared)

    #expect(late.transcript == ["next 1", "completed"])
    #expect(source.subscriptions == 1)
  }

  @Test func `a subscription in the callback of the failure starts the new run`() {
    let shared = source.signal.replayLast(resetsOnFailure: true)
    early.subscribe(to: shared) { [late] event in
      if event.isTerminal { late.subscribe(to: shared) }
    }

    source.failed(Trouble.some)
    source.next(1)

    #expect(source.subscriptions == 2)
    #expect(late.transcript == ["next 1"])
  }

  @Test func `the new run is cancelled when its last subscriber leaves`() {
    let shared = source.signal.replayLast(resetsOnFailure: true)
    early.subscribe(to: shared)
    source.failed(Trouble.some)
    late.subscribe(to: shared)

    early.dispose()
    let before = source.disposals
    late.dispose()

    #expect(before == 0)
    #expect(source.disposals == 1)
  }

  @Test func `captures are kept until a run has completed`() {
    let released = Journal<Int>()
    let shared = capturing(Witness { released.write(1) })
      .replayLast(.keepRunning, resetsOnFailure: true)
    shared.subscribe()
    source.failed(Trouble.some)
    let afterFailure = released.count

    shared.subscribe()
    source.completed()

    #expect(afterFailure == 0)
    #expect(released.count == 1)
  }

  private func capturing(_ witness: Witness) -> Signal<Int> {
    .deferred { [source] in withExtendedLifetime(witness) { source.signal } }
  }

  @Test func `replay forgets the values of a run that failed`() {
    let shared = source.signal.replay(5, resetsOnFailure: true)
    early.subscribe(to: shared)
    source.next(1)
    source.failed(Trouble.some)
    Recorder<Int>().subscribe(to: shared)
    source.next(2)
    source.next(3)

    late.subscribe(to: shared)

    #expect(late.values == [2, 3])
  }
}
