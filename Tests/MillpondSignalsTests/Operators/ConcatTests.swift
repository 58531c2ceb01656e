import MillpondSignals
import MillpondTesting
import Testing

@Suite struct ConcatTests {
  let first = TestSource<Int>()
  let second = TestSource<Int>()
  let recorder = Recorder<Int>()

  @Test func `the second is started when the first completes`() {
    recorder.subscribe(to: first.signal.concat(second.signal))

    first.next(1)
    let before = second.subscriptions
    first.completed()
    second.next(2)
    second.completed()

    #expect(before == 0)
    #expect(recorder.transcript == ["next 1", "next 2", "completed"])
  }

  @Test func `progress is that of the running one`() {
    recorder.subscribe(to: first.signal.concat(second.signal))

    first.progress(SignalProgress(completed: 1, total: 2))
    first.completed()
    second.progress(SignalProgress(completed: 3, total: 9))

    #expect(recorder.transcript == ["progress 1/2", "progress 3/9"])
  }

  @Test func `after a failure the second is not started`() {
    recorder.subscribe(to: first.signal.concat(second.signal))

    first.failed(Trouble.some)

    #expect(recorder.transcript == ["failed some"])
    #expect(second.subscriptions == 0)
  }

  @Test func `concatenations of concatenations keep their order`() {
    let front = Signal.of(1, 2).concat(.just(3))
    let back = Signal.just(4).concat(.of(5, 6))

    recorder.subscribe(to: front.concat(back).concat(.just(7)))

    #expect(recorder.transcript == (1...7).map { "next \($0)" } + ["completed"])
  }

  @Test func `one that was made longer stays as it is itself`() {
    let short = Signal.just(1).concat(.just(2))
    let long = short.concat(.just(3))

    recorder.subscribe(to: short)

    #expect(recorder.values == [1, 2])
    #expect(Recorder().subscribe(to: long).values == [1, 2, 3])
  }

  @Test func `each run starts all of them anew`() {
    let signal = first.signal.concat(.just(2))

    signal.subscribe()
    recorder.subscribe(to: signal)
    first.completed()

    #expect(first.subscriptions == 2)
    #expect(recorder.transcript == ["next 2", "completed"])
  }

  @Test func `an operator after it ends the merging of parts`() {
    recorder.subscribe(to: Signal.just(1).concat(.just(2)).map { $0 * 10 }.concat(.just(3)))

    #expect(recorder.values == [10, 20, 3])
  }

  @Test func `disposal reaches the running one, and nothing more is started`() {
    recorder.subscribe(to: first.signal.concat(second.signal))

    recorder.dispose()
    first.completed()

    #expect(first.disposals == 1)
    #expect(second.subscriptions == 0)
    #expect(recorder.events.isEmpty)
  }

  @Test func `a subscriber that leaves in a callback stops the rest`() {
    recorder.subscribe(to: Signal.of(1, 2).concat(second.signal)) { [recorder] _ in
      recorder.dispose()
    }

    #expect(recorder.transcript == ["next 1"])
    #expect(second.subscriptions == 0)
  }

  @Test func `a hundred thousand concatenations run and are released without overflow`() {
    let count = Locked(0)
    var signal = Signal<Int>.empty
    for number in 0..<100_000 { signal = signal.concat(.from(CollectionOfOne(number))) }

    signal.subscribe(onNext: { _ in count.withLock { $0 += 1 } })
    signal = .empty

    #expect(count.withLock { $0 } == 100_000)
  }

  @Test func `a hundred thousand concatenations built from the right do not overflow`() {
    let count = Locked(0)
    var signal = Signal<Int>.empty
    for number in 0..<100_000 { signal = Signal.from(CollectionOfOne(number)).concat(signal) }

    signal.subscribe(onNext: { value in
      count.withLock { count in
        if value == 99_999 - count { count += 1 }
      }
    })
    signal = .empty

    #expect(count.withLock { $0 } == 100_000)
  }

  @Test func `a hundred thousand pages, each followed by a deferred one, take constant stack`() {
    @Sendable func pages(_ number: Int) -> Signal<Int> {
      if number == 100_000 { return .empty }
      return Signal.from(CollectionOfOne(number)).concat(.deferred { pages(number + 1) })
    }

    recorder.subscribe(to: pages(0))

    #expect(recorder.values == Array(0..<100_000))
    #expect(recorder.isCompleted)
  }

  @Test func `pages that come later take no more stack or memory than one`() {
    let pages = (0..<20_000).map { _ in TestSource<Int>() }
    @Sendable func rest(_ number: Int) -> Signal<Int> {
      if number == pages.count { return .empty }
      return pages[number].signal.concat(.deferred { rest(number + 1) })
    }
    recorder.subscribe(to: rest(0))

    for (number, page) in pages.enumerated() {
      page.next(number)
      page.completed()
    }

    #expect(recorder.values == Array(0..<pages.count))
    #expect(recorder.isCompleted)
  }

  @Test func `a deferred part is made when the one before it has completed`() {
    let made = Locked(0)
    recorder.subscribe(
      to: first.signal.concat(
        .deferred { [second] in
          made.withLock { $0 += 1 }
          return second.signal
        }))
    let madeBefore = made.withLock { $0 }

    first.completed()
    second.next(1)
    second.completed()

    #expect(madeBefore == 0)
    #expect(made.withLock { $0 } == 1)
    #expect(recorder.transcript == ["next 1", "completed"])
  }

  @Test func `a merge within a concatenation is run as a merge`() {
    let merge = first.signal.merge(second.signal)
    recorder.subscribe(to: Signal.just(0).concat(.deferred { merge }).concat(.just(9)))

    second.next(2)
    first.next(1)
    first.completed()
    second.completed()

    #expect(recorder.values == [0, 2, 1, 9])
    #expect(recorder.isCompleted)
  }

  @Test func `each part is torn down before the next one starts`() {
    let journal = Journal<String>()
    let part = { @Sendable (name: String) in
      Signal<Int> { observer, lifetime in
        journal.write("\(name) starts")
        lifetime.onEnd { journal.write("\(name) is torn down") }
        observer.completed()
      }
    }

    recorder.subscribe(to: part("a").concat(part("b")))

    #expect(journal.entries == ["a starts", "a is torn down", "b starts", "b is torn down"])
  }
}
