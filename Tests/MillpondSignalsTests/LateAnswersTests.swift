import MillpondSignals
import MillpondTesting
import Testing

/// A source that continues after disposal: none of its events may reach a closure of the
/// subscription.
@Suite struct LateAnswersTests {
  let source = CallbackSource<Int>()
  let calls = Locked(0)

  private func count() {
    calls.withLock { $0 += 1 }
  }

  private var callCount: Int {
    calls.withLock { $0 }
  }

  /// Returns a chain with a user's closure in each place that takes one.
  private func counted(_ signal: Signal<Int>) -> Signal<Int> {
    let count: @Sendable () -> Void = { [calls] in calls.withLock { $0 += 1 } }
    return signal.map {
      count()
      return $0
    }.onNext { _ in count() }.filter { _ in
      count()
      return true
    }.scan(0) {
      count()
      return $0 + $1
    }.flatMap(.merge) {
      count()
      return .just($0)
    }.recover { error in
      count()
      return .fail(error)
    }
  }

  @Test(arguments: [0, 1])
  func `a value that a callback sends after disposal reaches no closure`(before: Int) {
    let subscription = counted(source.signal).subscribe { _ in count() }
    for value in 0..<before { source.next(value) }
    let expected = callCount

    subscription.dispose()
    source.next(1)
    source.runs[0].send(.progress(SignalProgress(completed: 1)))
    source.failed(Trouble.some)
    source.next(2)

    #expect(callCount == expected)
    #expect(before == 0 || expected > 0)
  }

  @Test func `values that a callback sends from several threads after disposal reach no closure`() {
    let subscription = counted(source.signal).subscribe { _ in count() }

    subscription.dispose()
    source.runs[0].sendAtOnce([.next(1), .next(2), .completed, .failed(Trouble.some)])

    #expect(callCount == 0)
  }

  @Test(arguments: [Event<Int>.next(1), .failed(Trouble.some), .completed])
  func `the result or error of asynchronous work after disposal reaches no closure`(
    answer: Event<Int>
  ) async throws {
    let isReleased = Watched(false)
    let lifetime = Lifetime()
    run(counted(.async { [source] in try await source.value() }), lifetime, isReleased)
    try await source.subscriptions(count: 1)

    lifetime.end()
    source.runs[0].send(answer)

    try await isReleased.wait(for: "the task to let go of the observer") { $0 }
    #expect(callCount == 0)
  }

  @Test func `asynchronous work that is left between its value and its end sends no end`()
    async throws
  {
    let isReleased = Watched(false)
    let lifetime = Lifetime()
    let signal = Signal.async { 1 }.onNext { _ in lifetime.end() }
    run(signal.collect().onNext { _ in count() }, lifetime, isReleased)

    try await isReleased.wait(for: "the task to let go of the observer") { $0 }
    #expect(callCount == 0)
  }

  @Test(arguments: [Signal.just(1), .of(1), .from([1, 2])])
  func `a signal that is left in its last value sends no end`(signal: Signal<Int>) {
    let lifetime = Lifetime()

    signal.onNext { _ in lifetime.end() }.collect().onNext { _ in count() }
      .run(Observer(next: { _ in count() }, other: { _ in count() }), lifetime)

    #expect(callCount == 0)
  }

  @Test func `values that wait for a callback to return reach no closure if it disposes`() {
    let box = Box<Disposable>()
    let pipes = [PublishSubject<Int>(), PublishSubject<Int>()]
    let signals: [Signal<Int>] = [
      .merge(pipes.map(\.signal)), pipes[0].signal.flatMap(.merge) { _ in pipes[1].signal },
      pipes[1].signal.take(until: Signal<Int>.never), source.signal,
    ]
    for signal in signals {
      let seen = Locked(0)
      let subscription = signal.onNext { _ in seen.withLock { $0 += 1 } }.subscribe(
        onNext: { [source] _ in
          pipes[1].next(2)
          source.next(2)
          box.value?.dispose()
        })
      box.put(subscription)

      for pipe in pipes { pipe.next(1) }
      source.next(1)

      #expect(seen.withLock { $0 } == 1)
    }
  }

  @Test func `a late subscriber of a shared run that leaves in the progress gets no value`() {
    let pipe = PublishSubject<Int>()
    let shared = pipe.signal.replayLast()
    let first = shared.subscribe()
    pipe.next(1)
    pipe.progress(SignalProgress(completed: 1))
    let lifetime = Lifetime()

    shared.onNext { _ in count() }
      .run(Observer(next: { _ in count() }, other: { _ in lifetime.end() }), lifetime)

    #expect(lifetime.isEnded)
    #expect(callCount == 0)
    first.dispose()
  }

  private func run(
    _ signal: Signal<Int>, _ lifetime: Lifetime, _ isReleased: Watched<Bool>
  ) {
    run(signal.map { [$0] }, lifetime, isReleased)
  }

  private func run(
    _ signal: Signal<[Int]>, _ lifetime: Lifetime, _ isReleased: Watched<Bool>
  ) {
    let witness = Witness { isReleased.change { $0 = true } }
    signal.run(
      Observer(
        next: { [witness, calls] _ in
          _ = witness
          calls.withLock { $0 += 1 }
        },
        other: { [calls] event in if event.isTerminal { calls.withLock { $0 += 1 } } }), lifetime)
  }
}
