import MillpondSignals
import MillpondTesting
import Testing

/// Promises of a combination of a collection alone; the others are in `CombineLatestTests`.
@Suite struct CombineLatestAllTests {
  let sources = (0..<3).map { _ in TestSource<Int>() }
  let recorder = Recorder<[Int]>()

  @Test func `the latest values are joined in the order of the signals, once each has sent one`() {
    recorder.subscribe(to: combineLatest(sources.map(\.signal)))

    sources[2].next(3)
    sources[2].next(4)
    sources[0].next(1)
    sources[1].next(2)
    sources[0].next(5)

    #expect(recorder.values == [[1, 2, 4], [5, 2, 4]])
  }

  @Test func `a combination of no signals sends the empty array and completes`() {
    recorder.subscribe(to: combineLatest([Signal<Int>]()))

    #expect(recorder.transcript == ["next []", "completed"])
  }

  @Test func `it completes with the last signal`() {
    recorder.subscribe(to: combineLatest(sources.map(\.signal)))
    for source in sources { source.next(1) }

    sources[0].completed()
    sources[2].completed()
    let hadEnded = recorder.end != nil
    sources[1].completed()

    #expect(!hadEnded)
    #expect(recorder.transcript == ["next [1, 1, 1]", "completed"])
  }

  @Test func `a signal that completes without a value completes it and stops the others`() {
    recorder.subscribe(to: combineLatest(sources.map(\.signal)))

    sources[1].completed()

    #expect(recorder.transcript == ["completed"])
    #expect(sources.map(\.disposals) == [1, 0, 1])
  }

  @Test func `the first failure ends it and stops the others`() {
    recorder.subscribe(to: combineLatest(sources.map(\.signal)))

    sources[1].failed(Trouble.some)

    #expect(recorder.transcript == ["failed some"])
    #expect(sources.map(\.disposals) == [1, 0, 1])
  }

  @Test func `progress is the sum`() {
    recorder.subscribe(to: combineLatest(sources.map(\.signal)))

    for source in sources { source.progress(SignalProgress(completed: 1, total: 2)) }

    #expect(recorder.transcript == ["progress 1/?", "progress 2/?", "progress 3/6"])
  }

  @Test func `ten thousand signals are joined on little stack, in their order`() {
    let sources = (0..<10_000).map { _ in PublishSubject<Int>() }
    let recorder = recorder

    LittleStack.run {
      recorder.subscribe(to: combineLatest(sources.map(\.signal)))
      for (number, source) in sources.enumerated().reversed() { source.next(number) }
      sources[0].next(-1)
      for source in sources { source.completed() }
    }

    #expect(recorder.values == [Array(0..<10_000), [-1] + Array(1..<10_000)])
    #expect(recorder.isCompleted)
  }
}
