import Foundation
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct SignalTests {
  @Test func `each subscription is a run of its own`() {
    let source = TestSource<Int>()

    source.signal.subscribe()
    source.signal.subscribe()

    #expect(source.subscriptions == 2)
  }

  @Test func `a signal that is released in its own callback runs to its end`() {
    let journal = Journal<String>()
    let box = Box<Signal<Int>>()
    box.put(Signal.of(1, 2).map { $0 * 2 }.flatMap { .just($0) })

    box.value?.subscribe(
      onNext: {
        box.take()
        journal.write("\($0)")
      }, onCompleted: { journal.write("completed") })

    #expect(journal.entries == ["2", "4", "completed"])
  }

  @Test func `a chain of a thousand operators runs and ends on a megabyte of stack`()
    async throws
  {
    let total = Watched(0)
    let thread = Thread {
      do {
        var signal = Signal.of(1, 2, 3)
        for step in 0..<1_000 {
          switch step % 5 {
          case 0: signal = signal.map { $0 + 1 }
          case 1: signal = signal.filter { _ in true }
          case 2: signal = signal.take(10)
          case 3: signal = signal.ifEmpty { .empty }
          default: signal = signal.flatMap { .just($0) }
          }
        }
        signal.subscribe(onNext: { value in total.change { $0 += value } })
      }
      total.change { $0 += 1_000_000 }
    }
    thread.stackSize = StackLimit.bytesOfThousand
    thread.start()

    try await total.wait(for: "the thread") { $0 >= 1_000_000 }
    #expect(total.state == 1_000_606)
  }

  @Test func `a million synchronous values pass through a chain`() {
    let sum = Locked(0)

    Signal.from(0..<1_000_000).map { $0 + 1 }.filter { $0 > 0 }
      .subscribe(onNext: { value in sum.withLock { $0 += value } })

    #expect(sum.withLock { $0 } == 500_000_500_000)
  }

  @Test func `a subscription releases its captures when it is disposed of`() {
    let source = TestSource<Int>()
    let pipe = PublishSubject<Int>()
    let alive = Locked(0)
    for _ in 0..<10_000 {
      alive.withLock { $0 += 1 }
      let witness = Witness { alive.withLock { $0 -= 1 } }
      let chain = pipe.signal.map { $0 + 1 }.take(3).flatMap(.latest) { .just($0) }
      chain.subscribe(onNext: { _ in _ = witness }).dispose()
    }

    #expect(alive.withLock { $0 } == 0)
    withExtendedLifetime((source, pipe)) {}
  }

  @Test func `a subscription without any reference to it is released`() {
    let released = Locked(0)
    do {
      let witness = Witness { released.withLock { $0 += 1 } }
      let silent = Signal<Int> { _, lifetime in lifetime.onEnd { _ = witness } }
      silent.take(1).ifEmpty { .just(1) }.subscribe(onNext: { _ in _ = witness })
    }

    #expect(released.withLock { $0 } == 1)
  }

  @Test func `a subscription releases its captures when it completes`() {
    let alive = Locked(0)
    for _ in 0..<1_000 {
      alive.withLock { $0 += 1 }
      let witness = Witness { alive.withLock { $0 -= 1 } }
      let chain = zip(Signal.of(1, 2), Signal.of(3, 4).take(2)).flatMap(.merge) { .just($0 + $1) }
      chain.ifEmpty { .just(0) }.subscribe(onNext: { _ in _ = witness })
    }

    #expect(alive.withLock { $0 } == 0)
  }
}
