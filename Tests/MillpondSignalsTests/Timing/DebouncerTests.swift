import Dispatch
import MillpondSignals
import MillpondTesting
import Testing

@MainActor @Suite struct DebouncerTests {
  let clock = ManualClock()
  let acts = Journal<Int>()

  func debouncer() -> Debouncer {
    Debouncer(after: .seconds(1), clock: clock) { [acts] in acts.write(1) }
  }

  @Test func `many calls act once, after the quiet`() {
    let debouncer = debouncer()
    for _ in 0..<3 {
      debouncer.call()
      clock.advance(by: .milliseconds(900))
    }
    let early = acts.count

    clock.advance(by: .seconds(5))

    #expect(early == 0)
    #expect(acts.count == 1)
  }

  @Test func `a call after it has acted makes it act again`() {
    let debouncer = debouncer()

    for _ in 0..<2 {
      debouncer.call()
      clock.run()
    }

    #expect(acts.count == 2)
  }

  @Test func `a cancelled call does not act, and a further call does`() {
    let debouncer = debouncer()
    debouncer.call()
    debouncer.cancel()
    clock.run()
    let cancelled = acts.count

    debouncer.call()
    clock.run()

    #expect(cancelled == 0)
    #expect(acts.count == 1)
  }

  @Test func `released, it does not act and leaves no timer`() {
    debouncer().call()

    #expect(clock.pendingCount == 0)
    clock.run()
    #expect(acts.count == 0)
  }

  @Test func `the captures of its action are released with it`() {
    let released = Journal<Int>()
    do {
      let witness = Witness { released.write(1) }
      let debouncer = Debouncer(after: .seconds(1), clock: clock) { _ = witness }
      debouncer.call()
    }

    #expect(released.count == 1)
  }

  @Test func `it acts on the main actor, whatever thread calls or measures the time`() async {
    let box = Box<Debouncer>()
    let isolated: Bool = await withCheckedContinuation { continuation in
      box.put(
        Debouncer(after: .seconds(1), clock: clock) {
          MainActor.assertIsolated()
          continuation.resume(returning: true)
        })
      Task.detached { [clock] in
        box.value?.call()
        clock.run()
      }
    }

    box.take()
    #expect(isolated)
  }

  @Test func `an action on its way to the main actor can be cancelled there`() async {
    let debouncer = debouncer()
    debouncer.call()
    runClockElsewhere()

    debouncer.cancel()
    await withCheckedContinuation { passed in DispatchQueue.main.async { passed.resume() } }

    #expect(acts.count == 0)
    #expect(clock.pendingCount == 0)
  }

  /// Runs the clock on another thread while the main thread waits.
  private func runClockElsewhere() {
    let done = DispatchSemaphore(value: 0)
    DispatchQueue.global().async { [clock] in
      clock.run()
      done.signal()
    }
    done.wait()
  }

  @Test func `a call from inside the action acts again later`() {
    let box = Box<Debouncer>()
    let debouncer = Debouncer(after: .seconds(1), clock: clock) { [acts] in
      acts.write(1)
      if acts.count == 1 { box.value?.call() }
    }
    box.put(debouncer)
    debouncer.call()

    clock.advance(by: .seconds(1))
    let once = acts.count
    clock.advance(by: .seconds(1))
    box.take()

    #expect(once == 1)
    #expect(acts.count == 2)
  }

  @Test func `it acts after any number of calls that the main thread was too busy for`()
    async throws
  {
    let acts = Watched(0)
    let debouncer = Debouncer(after: .zero) { acts.change { $0 += 1 } }
    await MainActor.run {
      let hasCalled = DispatchSemaphore(value: 0)
      onThread {
        for _ in 0..<70_000 { debouncer.call() }
        hasCalled.signal()
      }
      hasCalled.wait()
    }
    await withCheckedContinuation { passed in DispatchQueue.main.async { passed.resume() } }
    let before = acts.state

    debouncer.call()

    try await acts.wait(for: "one more act") { $0 > before }
  }
}
