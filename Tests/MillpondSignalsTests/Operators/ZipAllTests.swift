import MillpondSignals
import MillpondTesting
import Testing

/// Promises of a zip of a collection alone; the others are in `ZipTests`.
@Suite struct ZipAllTests {
  let sources = (0..<3).map { _ in TestSource<Int>() }
  let recorder = Recorder<[Int]>()

  @Test func `values are joined in the order of the signals, whichever input is ahead`() {
    recorder.subscribe(to: zip(sources.map(\.signal)))

    for (number, source) in sources.enumerated().reversed() {
      source.next(number)
      source.next(number + 10)
    }

    #expect(recorder.values == [[0, 1, 2], [10, 11, 12]])
  }

  @Test func `a zip of no signals sends the empty array and completes`() {
    recorder.subscribe(to: zip([Signal<Int>]()))

    #expect(recorder.transcript == ["next []", "completed"])
  }

  @Test func `ten thousand signals are joined on little stack, in their order`() {
    let sources = (0..<10_000).map { _ in PublishSubject<Int>() }
    let recorder = Recorder<[Int]>()

    LittleStack.run {
      recorder.subscribe(to: zip(sources.map(\.signal)))
      for round in 0..<3 {
        for (number, source) in sources.enumerated().reversed() { source.next(number + round) }
      }
      sources[7].completed()
    }

    #expect(recorder.values.map { $0 == Array($0[0]..<$0[0] + 10_000) } == [true, true, true])
    #expect(recorder.isCompleted)
  }

  @Test func `the first failure ends the zip and stops the other signals`() {
    recorder.subscribe(to: zip(sources.map(\.signal)))
    sources[0].next(1)

    sources[1].failed(Trouble.some)

    #expect(recorder.transcript == ["failed some"])
    #expect(sources[0].disposals == 1)
    #expect(sources[2].disposals == 1)
  }

  @Test func `it completes as soon as one is over and used up`() {
    recorder.subscribe(to: zip([.of(1, 2), .just(3)]))

    #expect(recorder.transcript == ["next [1, 3]", "completed"])
  }

  @Test func `progress is the sum`() {
    recorder.subscribe(to: zip(sources.map(\.signal)))

    for source in sources { source.progress(SignalProgress(completed: 1, total: 2)) }

    #expect(recorder.transcript == ["progress 1/?", "progress 2/?", "progress 3/6"])
  }

  @Test func `each run begins anew`() {
    let signal = zip([Signal.of(1, 2), Signal.just(3)])

    signal.subscribe()
    recorder.subscribe(to: signal)

    #expect(recorder.values == [[1, 3]])
  }

  @Test func `a failure does not hide the other outcomes if all signals are settled`() throws {
    let signals: [Signal<Int>] = [.just(1), .fail(Trouble.some), .just(3)]
    let recorder = Recorder<[Result<Int, any Error>]>()

    recorder.subscribe(to: zip(signals.map { $0.settle() }))

    let results = try #require(recorder.values.first)
    #expect(results.map { try? $0.get() } == [1, nil, 3])
    #expect(throws: Trouble.some) { try results[1].get() }
    #expect(recorder.isCompleted)
  }
}
