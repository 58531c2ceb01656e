import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

/// The delivering thread: never one that only disposes, subscribes or changes a looked-up value.
///
/// So such a thread may hold a lock that the observers take.
@Suite(.heavy) struct DeliveringThreadTests {
  static let shared: [SharedSignal] = [
    SharedSignal("a subject") { source in
      let pipe = PublishSubject<Int>()
      source.subscribe { pipe.observer.send($0) }
      return pipe.signal
    },
    SharedSignal("share") { $0.share() }, SharedSignal("replayLast") { $0.replayLast() },
  ]

  @Test(arguments: shared)
  func `a thread that disposes while another sends delivers nothing`(subject: SharedSignal)
    async throws
  {
    let pipe = PublishSubject<Int>()
    let signal = subject.make(pipe.signal)
    let deliverers = Journal<UInt>()
    let isSending = Gate()
    let hasSent = Gate()
    let sender = Box<UInt>()
    signal.subscribe(onNext: { _ in deliverers.write(threadMark()) })
    // The release of the leaving observer's capture waits until the other thread has sent.
    var cargo: Witness? = Witness {
      isSending.open()
      hasSent.pass()
    }
    let handle = signal.subscribe(onNext: { [cargo] _ in _ = cargo })
    cargo = nil
    let done = Watched(0)

    onThread {
      isSending.pass()
      sender.put(threadMark())
      pipe.next(1)
      hasSent.open()
      done.change { $0 += 1 }
    }
    onThread {
      handle.dispose()
      done.change { $0 += 1 }
    }

    try await done.wait(for: "both threads") { $0 == 2 }
    #expect(deliverers.entries == [sender.value])
  }

  @Test(arguments: shared)
  func `a thread that disposes again and again never delivers what another one sends`(
    subject: SharedSignal
  ) async throws {
    let pipe = PublishSubject<Int>()
    let signal = subject.make(pipe.signal)
    let stays = signal.subscribe()
    let handles = (0..<20_000).map { _ in signal.subscribe() }

    try await expectForeignDeliveries(of: signal, sending: { pipe.next(1) }) {
      for handle in handles { handle.dispose() }
    }
    stays.dispose()
  }

  @Test(arguments: shared.prefix(2))
  func `a thread that subscribes to what repeats nothing never delivers what others send`(
    subject: SharedSignal
  ) async throws {
    let pipe = PublishSubject<Int>()
    let signal = subject.make(pipe.signal)
    let stays = signal.subscribe()

    try await expectForeignDeliveries(of: signal, sending: { pipe.next(1) }) {
      for _ in 0..<10_000 { signal.subscribe().dispose() }
    }
    stays.dispose()
  }

  @Test func `a thread that updates the other signal of withLatest never delivers`() async throws {
    let pipe = PublishSubject<Int>()
    let other = PublishSubject<Int>()
    let signal = pipe.signal.withLatest(from: other.signal).map { $0.0 }

    try await expectForeignDeliveries(of: signal, sending: { pipe.next(1) }) {
      for number in 0..<20_000 { other.next(number) }
    }
  }

  @Test func `a thread that sends values to be sampled never delivers`() async throws {
    let pipe = PublishSubject<Int>()
    let sampler = PublishSubject<Int>()
    let signal = pipe.signal.sample(on: sampler.signal)

    try await expectForeignDeliveries(of: signal, sending: { sampler.next(1) }) {
      for number in 0..<20_000 { pipe.next(number) }
    }
  }

  @Test func `a thread that leaves a timed operator never delivers what is due`() async throws {
    for _ in 0..<500 {
      let clock = ManualClock()
      let pipe = PublishSubject<Int>()
      let mark = Box<UInt>()
      let foreign = Locked(0)
      let subscription = pipe.signal.delay(.seconds(1), clock: clock).subscribe(onNext: { _ in
        if mark.value == threadMark() { foreign.withLock { $0 += 1 } }
      })
      for number in 0..<3 { pipe.next(number) }

      try await race(2) { index in
        if index == 0 { return clock.advance(by: .seconds(2)) }
        mark.put(threadMark())
        subscription.dispose()
      }

      #expect(foreign.withLock { $0 } == 0)
    }
  }

  @Test(arguments: shared)
  func `the captures of a leaving observer are released where nothing waits for them`(
    subject: SharedSignal
  ) async throws {
    // Inside a callback, so that the turn is taken and the departure waits.
    let source = Box<Observer<Int>>()
    let signal = subject.make(Signal { observer, _ in source.put(observer) })
    let values = Journal<Int>()
    let box = Box<Disposable>()
    let seen = Journal<[Int]>()
    signal.subscribe(onNext: {
      values.write($0)
      box.take()?.dispose()
    })
    var cargo: Witness? = Witness {
      // Sent in the release: delivered at once, since the turn is free again.
      source.value?.next(2)
      seen.write(values.entries)
    }
    box.put(signal.subscribe(onNext: { [cargo] _ in _ = cargo }))
    cargo = nil

    source.value?.next(1)

    #expect(seen.entries == [[1, 2]])
  }

  /// Two threads send while a third acts: nothing is delivered by the third.
  private func expectForeignDeliveries(
    of signal: Signal<Int>, sending send: @escaping @Sendable () -> Void,
    acting act: @escaping @Sendable () -> Void
  ) async throws {
    let actor = Box<UInt>()
    let own = Locked(0)
    let isOver = Locked(false)
    let subscription = signal.subscribe(onNext: { _ in
      if actor.value == threadMark() { own.withLock { $0 += 1 } }
    })
    let isReady = Gate()
    try await race(3) { index in
      if index < 2 {
        isReady.pass()
        while !isOver.withLock({ $0 }) { send() }
      } else {
        actor.put(threadMark())
        isReady.open()
        act()
        isOver.withLock { $0 = true }
      }
    }
    subscription.dispose()

    #expect(own.withLock { $0 } == 0)
  }
}

/// A way to share the events of a subject, by its name.
struct SharedSignal: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let make: @Sendable (Signal<Int>) -> Signal<Int>

  init(_ name: String, _ make: @escaping @Sendable (Signal<Int>) -> Signal<Int>) {
    testDescription = name
    self.make = make
  }
}
