import MillpondTesting
import Testing

@testable import MillpondSignals

/// No closure runs after a disposal, also in the middle of a start.
@Suite struct SilenceTests {
  @Test func `cancelling the task disposes of a signal that is starting, once it has`() async throws
  {
    let (hasBegun, isCancelled, wasEnded) = (Watched(false), Locked(false), Locked(false))
    let signal = Signal<Int> { _, lifetime in
      lifetime.onEnd { wasEnded.withLock { $0 = true } }
      hasBegun.change { $0 = true }
      while !isCancelled.withLock({ $0 }) { yieldThread() }
    }
    let task = Task { try await signal.value }
    try await hasBegun.wait(for: "the start") { $0 }

    task.cancel()
    isCancelled.withLock { $0 = true }

    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(wasEnded.withLock { $0 })
  }

  enum Maker: CaseIterable { case recover, ifEmpty, deferred, concat }

  @Test(arguments: Maker.allCases)
  func `a signal whose making disposes sends nothing`(maker: Maker) {
    let (pipe, box, calls) = (PublishSubject<Int>(), Box<Disposable>(), Locked(0))
    let make = { @Sendable () -> Signal<Int> in
      box.value?.dispose()
      return .just(1)
    }
    let signal =
      switch maker {
      case .recover: pipe.signal.recover { _ in make() }
      case .ifEmpty: pipe.signal.ifEmpty(make)
      case .deferred: pipe.signal.ifEmpty { .deferred(make) }
      case .concat: pipe.signal.concat(.deferred(make))
      }
    box.put(signal.onNext { _ in calls.withLock { $0 += 1 } }.subscribe())

    if maker == .recover { pipe.failed(Trouble.some) } else { pipe.completed() }

    #expect(calls.withLock { $0 } == 0)
  }

  @Test func `a ready value whose making disposes is not sent`() {
    let (lifetime, calls) = (Lifetime(), Locked(0))
    let signal = Signal.just(1).map { value in
      lifetime.end()
      return value
    }

    signal.run(Observer(next: { _ in calls.withLock { $0 += 1 } }, other: { _ in }), lifetime)

    #expect(calls.withLock { $0 } == 0)
  }

  @Test func `no further part is made once the subscriber has left`() {
    let (lifetime, made) = (Lifetime(), Locked(0))
    @Sendable func next(_ number: Int) -> Signal<Int> {
      .deferred {
        made.withLock { $0 += 1 }
        if number == 3 { lifetime.end() }
        return number < 100 ? next(number + 1) : .just(number)
      }
    }

    Signal.just(0).concat(next(0)).run(Observer(next: { _ in }, other: { _ in }), lifetime)

    #expect(made.withLock { $0 } == 4)
  }
}
