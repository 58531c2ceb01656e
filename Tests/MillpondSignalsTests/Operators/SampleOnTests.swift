import MillpondSignals
import MillpondTesting
import Testing

@Suite struct SampleOnTests {
  let source = TestSource<Int>()
  let sampler = TestSource<String>()
  let recorder = Recorder<Int>()

  func subscribe() {
    recorder.subscribe(to: source.signal.sample(on: sampler.signal))
  }

  @Test func `each sample passes on the newest value`() {
    subscribe()

    source.next(1)
    source.next(2)
    sampler.next("a")
    source.next(3)
    sampler.next("b")

    #expect(recorder.values == [2, 3])
  }

  @Test func `a value is sampled once`() {
    subscribe()

    sampler.next("a")
    source.next(1)
    sampler.next("b")
    sampler.next("c")

    #expect(recorder.values == [1])
  }

  @Test func `a value that is there at once is there for the first sample`() {
    recorder.subscribe(to: source.signal.startWith(1).sample(on: sampler.signal.startWith("a")))

    #expect(recorder.transcript == ["next 1"])
  }

  @Test func `the completion sends what waits, and stops the sampler`() {
    subscribe()
    source.next(1)

    source.completed()

    #expect(recorder.transcript == ["next 1", "completed"])
    #expect(sampler.disposals == 1)
  }

  @Test func `the completion of the sampler sends what waits, completes and stops the signal`() {
    subscribe()
    source.next(1)

    sampler.completed()

    #expect(recorder.transcript == ["next 1", "completed"])
    #expect(source.disposals == 1)
  }

  @Test func `a sampled value is not sent again by the completion`() {
    subscribe()
    source.next(1)
    sampler.next("a")

    source.completed()

    #expect(recorder.transcript == ["next 1", "completed"])
  }

  @Test(arguments: [true, false])
  func `a failure of either drops what waits and stops the other`(isSampler: Bool) {
    subscribe()
    source.next(1)

    if isSampler { sampler.failed(Trouble.some) } else { source.failed(Trouble.some) }

    #expect(recorder.transcript == ["failed some"])
    #expect(source.disposals == (isSampler ? 1 : 0))
    #expect(sampler.disposals == (isSampler ? 0 : 1))
  }

  @Test func `a signal that ends at once starts no sampler`() {
    recorder.subscribe(to: Signal.of(1, 2).sample(on: sampler.signal))

    #expect(recorder.transcript == ["next 2", "completed"])
    #expect(sampler.subscriptions == 0)
  }

  @Test func `progress is that of the signal, not of the sampler`() {
    subscribe()

    sampler.progress(SignalProgress(completed: 5, total: 9))
    source.progress(SignalProgress(completed: 1, total: 2))

    #expect(recorder.transcript == ["progress 1/2"])
  }

  @Test func `a callback that leaves at the last sample does not receive the completion`() {
    let handle = Lifetime()
    let events = Journal<String>()
    let signal = source.signal.sample(on: sampler.signal)
    signal.run(
      Observer(next: {
        events.write("next \($0)")
        handle.end()
      }) { events.write("\($0)") }, handle)
    source.next(1)

    sampler.completed()

    #expect(events.entries == ["next 1"])
  }

  @Test func `a sampler that sends under a lock does not deadlock with a callback that wants it`()
    async throws
  {
    let scene = HeldLock()
    let isFirst = Box<Bool>()
    isFirst.put(true)
    recorder.subscribe(to: source.signal.sample(on: sampler.signal)) { _ in
      if isFirst.take() != nil { scene.callback() }
    }
    source.next(1)

    try await scene.play(
      send: { [sampler] in sampler.next("a") },
      meddle: { [source, sampler] in
        source.next(2)
        sampler.next("b")
      })

    #expect(recorder.values == [1, 2])
    #expect(recorder.violations.isEmpty)
  }
}
