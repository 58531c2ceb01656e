import MillpondTesting
import Testing

@testable import MillpondSignals

/// What a subscriber that has left leaves behind: nothing.
@Suite struct LeftSubscriberTests {
  @Test func `a cancelled run lets go of its value though others stay with its source`() {
    let pipe = PublishSubject<Witness>()
    let released = Locked(0)
    let stays = pipe.signal.subscribe()
    let handle = pipe.signal.replayLast().subscribe()
    pipe.next(Witness { released.withLock { $0 += 1 } })

    handle.dispose()

    #expect(released.withLock { $0 } == 1)
    stays.dispose()
  }

  @Test func `an awaited value is not kept by its source`() async throws {
    let pipe = PublishSubject<Witness>()
    let released = Locked(0)
    let stays = [pipe.signal.subscribe(), pipe.signal.subscribe()]
    let signal = Signal<Witness> { observer, lifetime in
      pipe.signal.run(observer, lifetime)
      pipe.next(Witness { released.withLock { $0 += 1 } })
    }

    _ = try await signal.value

    #expect(released.withLock { $0 } == 1)
    for handle in stays { handle.dispose() }
  }

  @Test func `a value that a left run held is released where it may subscribe`() async {
    await #expect(processExitsWith: .success) {
      let pipe = PublishSubject<Witness>()
      let stays = pipe.signal.subscribe()
      let handle = pipe.signal.replayLast().subscribe()
      pipe.next(Witness { pipe.signal.subscribe().dispose() })
      handle.dispose()
      stays.dispose()
    }
  }

  @Test func `subscribers that come and go in callbacks do not pile up`() {
    let pipe = PublishSubject<Int>()
    let (box, alive) = (Box<Disposable>(), Locked((now: 0, most: 0)))
    pipe.signal.subscribe(onNext: { number in
      box.take()?.dispose()
      if number == 1_000 { return }
      alive.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
      let cargo = Witness { alive.withLock { $0.now -= 1 } }
      box.put(pipe.signal.subscribe(onNext: { _ in withExtendedLifetime(cargo) {} }))
      pipe.next(number + 1)
    })

    pipe.next(0)

    #expect(alive.withLock { $0.most } < 100)
  }
}
