import MillpondSignals
import MillpondTesting
import Testing

/// The differences from `replay(_:)`, whose engine it is.
@Suite struct ReplayAllTests {
  let source = TestSource<Int>()
  let early = Recorder<Int>()
  let late = Recorder<Int>()

  @Test func `a late subscriber gets all values in order, and then the rest`() {
    let shared = source.signal.replayAll()
    early.subscribe(to: shared)
    for value in 0..<1_000 { source.next(value) }

    late.subscribe(to: shared)
    source.next(1_000)
    source.completed()

    #expect(early.values == Array(0...1_000))
    #expect(late.values == Array(0...1_000))
    #expect(late.isCompleted)
    #expect(source.subscriptions == 1)
  }

  @Test func `of a settled run all is repeated`() {
    let shared = Signal.from(0..<1_000).replayAll()
    shared.subscribe()

    late.subscribe(to: shared)

    #expect(late.values == Array(0..<1_000))
    #expect(late.isCompleted)
  }

  @Test func `the values are kept when all have left, if the run is kept running`() {
    let shared = source.signal.replayAll(.keepRunning)
    early.subscribe(to: shared)
    for value in 1...3 { source.next(value) }
    early.dispose()
    source.next(4)

    late.subscribe(to: shared)

    #expect(late.values == [1, 2, 3, 4])
  }

  @Test func `all values are released with the signal`() {
    let released = Journal<Int>()
    do {
      let source = PublishSubject<Witness>()
      let shared = source.signal.replayAll()
      shared.subscribe()
      for number in 0..<3 { source.next(Witness { released.write(number) }) }
      #expect(released.entries.isEmpty)
      source.completed()
    }

    #expect(released.entries.sorted() == [0, 1, 2])
  }
}
