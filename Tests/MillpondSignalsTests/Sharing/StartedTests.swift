import MillpondSignals
import MillpondTesting
import Testing

@Suite struct StartedTests {
  let source = TestSource<Int>()
  let early = Recorder<Int>()
  let late = Recorder<Int>()

  @Test func `the run starts at once, without a subscriber, and once`() {
    let shared = source.signal.started()
    #expect(source.subscriptions == 1)

    early.subscribe(to: shared)
    late.subscribe(to: shared)

    #expect(source.subscriptions == 1)
  }

  @Test func `subscribers get the latest value, and what follows`() {
    let shared = source.signal.started()
    source.next(1)
    source.next(2)

    early.subscribe(to: shared)
    source.next(3)
    source.completed()

    #expect(early.transcript == ["next 2", "next 3", "completed"])
  }

  @Test func `the value stays when all have left, before the end and after it`() {
    let shared = source.signal.started()
    early.subscribe(to: shared)
    source.next(1)
    early.dispose()

    late.subscribe(to: shared)
    late.dispose()
    source.completed()
    let last = Recorder<Int>().subscribe(to: shared)

    #expect(late.transcript == ["next 1"])
    #expect(last.transcript == ["next 1", "completed"])
    #expect(source.disposals == 0)
  }

  @Test func `a signal that has its answer ready is asked once`() {
    let asked = Journal<Int>()
    let ready = Signal<Int>.just(1).map {
      asked.write($0)
      return $0
    }

    let shared = ready.started()
    early.subscribe(to: shared)
    late.subscribe(to: shared)

    #expect(asked.count == 1)
    #expect(late.transcript == ["next 1", "completed"])
  }

  @Test func `a failure is repeated`() {
    let shared = source.signal.started()
    source.failed(Trouble.some)

    early.subscribe(to: shared)
    late.subscribe(to: shared)

    #expect(late.transcript == ["failed some"])
    #expect(source.subscriptions == 1)
  }

  @Test func `a failure that resets is not repeated: the next subscriber starts a new run`() {
    let shared = source.signal.started(resetsOnFailure: true)
    source.failed(Trouble.some)

    early.subscribe(to: shared)
    source.next(1)
    source.completed()
    late.subscribe(to: shared)

    #expect(source.subscriptions == 2)
    #expect(early.transcript == ["next 1", "completed"])
    #expect(late.transcript == ["next 1", "completed"])
  }
}
