import MillpondSignals
import MillpondTesting
import Testing

@Suite struct MergeTests {
  let first = TestSource<Int>()
  let second = TestSource<Int>()
  let recorder = Recorder<Int>()

  @Test func `all run at once, and it completes with the last of them`() {
    recorder.subscribe(to: first.signal.merge(second.signal))

    second.next(1)
    first.next(2)
    second.completed()
    first.next(3)
    first.completed()

    #expect(recorder.transcript == ["next 1", "next 2", "next 3", "completed"])
  }

  @Test func `a collection is merged`() {
    recorder.subscribe(to: .merge([.of(1, 2), .just(3), .empty]))

    #expect(recorder.transcript == ["next 1", "next 2", "next 3", "completed"])
  }

  @Test func `a merge of no signals completes`() {
    recorder.subscribe(to: .merge([]))

    #expect(recorder.transcript == ["completed"])
  }

  @Test func `ten thousand signals are merged on little stack`() {
    let sources = (0..<10_000).map { _ in PublishSubject<Int>() }
    let recorder = recorder

    LittleStack.run {
      recorder.subscribe(to: .merge(sources.map(\.signal)))
      for (number, source) in sources.enumerated() { source.next(number) }
      for source in sources { source.completed() }
    }

    #expect(recorder.values == Array(0..<10_000))
    #expect(recorder.isCompleted)
  }

  @Test func `ten thousand signals that end at once are merged on little stack`() {
    let recorder = recorder

    LittleStack.run { recorder.subscribe(to: .merge((0..<10_000).map { Signal.of($0) })) }

    #expect(recorder.values == Array(0..<10_000))
    #expect(recorder.isCompleted)
  }

  @Test func `progress is the sum`() {
    recorder.subscribe(to: first.signal.merge(second.signal))

    first.progress(SignalProgress(completed: 1, total: 10))
    second.progress(SignalProgress(completed: 2, total: 20))

    #expect(recorder.transcript == ["progress 1/?", "progress 3/30"])
  }

  @Test func `the first failure ends it and stops the others`() {
    recorder.subscribe(to: first.signal.merge(second.signal))

    first.failed(Trouble.some)

    #expect(recorder.transcript == ["failed some"])
    #expect(second.disposals == 1)
  }

  @Test func `twenty thousand nested merges run and are released without overflow`() {
    let count = Locked(0)
    var signal = Signal<Int>.empty
    for number in 0..<20_000 { signal = signal.merge(.from(CollectionOfOne(number))) }

    signal.subscribe(onNext: { _ in count.withLock { $0 += 1 } })
    signal = .empty

    #expect(count.withLock { $0 } == 20_000)
  }

  @Test func `a merge of merges starts its signals in their order, and completes with the last`() {
    let sources = (0..<4).map { _ in TestSource<Int>() }
    let starts = Journal<Int>()
    let signals = sources.enumerated().map { number, source in
      Signal<Int>.deferred {
        starts.write(number)
        return source.signal
      }
    }
    let recorder = Recorder<Int>().subscribe(
      to: signals[0].merge(signals[1]).merge(signals[2].merge(signals[3])))

    for (number, source) in sources.enumerated().reversed() {
      source.next(number)
      source.completed()
    }

    #expect(starts.entries == [0, 1, 2, 3])
    #expect(recorder.transcript == [3, 2, 1, 0].map { "next \($0)" } + ["completed"])
  }

  @Test func `the progress of a merge of merges is the sum of all`() {
    let sources = (0..<3).map { _ in TestSource<Int>() }
    let recorder = Recorder<Int>().subscribe(
      to: sources[0].signal.merge(sources[1].signal).merge(sources[2].signal))

    for source in sources { source.progress(SignalProgress(completed: 1, total: 4)) }

    #expect(recorder.progress.last == SignalProgress(completed: 3, total: 12))
  }

  @Test func `the last progress is the sum, whichever thread reports it`() async throws {
    for _ in 0..<500 {
      let pipes = [PublishSubject<Int>(), PublishSubject<Int>()]
      let last = Locked(0)
      Signal.merge(pipes.map(\.signal))
        .subscribe(onProgress: { now in last.withLock { $0 = now.completed } })
      try await race(2) { index in
        for number in 1...20 { pipes[index].progress(SignalProgress(completed: number)) }
      }
      #expect(last.withLock { $0 } == 40)
    }
  }
}
