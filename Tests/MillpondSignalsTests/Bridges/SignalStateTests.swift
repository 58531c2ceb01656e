import MillpondSignals
import MillpondTesting
import Observation
import Testing

@MainActor
@Suite struct SignalStateTests {
  let source = TestSource<Int>()
  let state = SignalState<Int>()

  @Test func `it is empty before a signal is followed`() {
    #expect(state.value == nil)
    #expect(state.error == nil)
    #expect(state.progress == nil)
    #expect(!state.isLoading)
  }

  @Test func `a ready value of the signal is there when following returns`() {
    state.follow(.just(1))

    #expect(state.value == 1)
    #expect(!state.isLoading)
  }

  @Test func `it subscribes when it is made for a signal`() {
    let state = SignalState(following: source.signal)

    #expect(source.subscriptions == 1)
    #expect(state.isLoading)
  }

  @Test func `it is loading until the first value, and shows the progress until the end`() {
    state.follow(source.signal)

    source.progress(SignalProgress(completed: 1, total: 2))
    let before = (state.isLoading, state.progress)
    source.next(1)
    let between = (state.isLoading, state.progress)
    source.completed()

    #expect(before == (true, SignalProgress(completed: 1, total: 2)))
    #expect(between == (false, SignalProgress(completed: 1, total: 2)))
    #expect(state.progress == nil)
    #expect(state.value == 1)
  }

  @Test func `an empty signal ends the loading`() {
    state.follow(.empty)

    #expect(!state.isLoading)
    #expect(state.value == nil)
  }

  @Test func `a failure leaves the value, and the next signal clears both`() {
    state.follow(source.signal)
    source.next(1)
    source.failed(Trouble.some)
    let failure = state.error as? Trouble
    let isLoading = state.isLoading

    state.follow(.never)

    #expect(failure == .some)
    #expect(!isLoading)
    #expect(state.error == nil)
    #expect(state.value == nil)
    #expect(state.isLoading)
  }

  @Test func `a row that is used again shows nothing of before, while it loads and if that fails`()
  {
    state.follow(.just(1))

    state.follow(source.signal)
    #expect(state.value == nil)
    source.failed(Trouble.some)

    #expect(state.value == nil)
    #expect(state.error != nil)
  }

  @Test func `a value that is ready takes the place of the one before in one change`() {
    let changes = Journal<String>()
    state.follow(.just(1))
    observe(state.value) { [state] in
      observe(state.value) { changes.write("a second change") }
    }

    state.follow(.just(2))

    #expect(changes.entries.isEmpty)
    #expect(state.value == 2)
  }

  @Test func `the value stays for another signal of the same thing, until that sends one`() {
    state.follow(.just(1))

    state.follow(source.signal, keepingValue: true)
    let before = state.value
    source.next(2)

    #expect(before == 1)
    #expect(state.value == 2)
  }

  @Test func `clearing disposes, and shows nothing`() {
    state.follow(source.signal)
    source.next(1)

    state.clear()
    source.next(2)

    #expect(source.disposals == 1)
    #expect(state.value == nil)
    #expect(state.error == nil)
    #expect(!state.isLoading)
  }

  @Test func `following another signal disposes of the one before`() {
    state.follow(source.signal)

    state.follow(.just(2))
    source.next(1)

    #expect(source.disposals == 1)
    #expect(state.value == 2)
  }

  @Test func `a signal that follows another one in its start is over`() {
    let other = TestSource<Int>()
    let disposals = Journal<Int>()

    state.follow(
      Signal { [state] observer, lifetime in
        lifetime.onEnd { disposals.write(1) }
        MainActor.assumeIsolated { state.follow(other.signal) }
        observer.next(1)
      })

    #expect(disposals.count == 1)
    #expect(other.activeRuns == 1)
    #expect(state.value == nil)
    #expect(state.isLoading)
  }

  @Test func `stopping disposes and keeps the value`() {
    state.follow(source.signal)
    source.next(1)
    source.progress(SignalProgress(completed: 1))

    state.stop()

    #expect(source.disposals == 1)
    #expect(state.value == 1)
    #expect(state.progress == nil)
    #expect(!state.isLoading)
  }

  @Test func `its release disposes`() {
    var state: SignalState<Int>? = SignalState(following: source.signal)
    let runs = source.activeRuns
    #expect(state?.isLoading == true)

    state = nil

    #expect(runs == 1)
    #expect(source.disposals == 1)
  }

  @Test func `a value sent on another thread arrives on the main actor`() async throws {
    let changes = Watched(0)
    state.follow(source.signal)
    observe(state.value) { changes.change { $0 += 1 } }

    onThread { [source] in source.next(1) }
    try await changes.wait(for: "the change") { $0 == 1 }

    // `onChange` runs before the change, on the main actor, where this is, too.
    #expect(state.value == 1)
  }

  @Test func `an observer that follows another signal when it receives a change does so once`() {
    let other = TestSource<Int>()
    observe(state.isLoading) { [state] in state.follow(other.signal) }

    state.follow(source.signal)
    other.next(2)

    #expect(source.activeRuns == 0)
    #expect(other.subscriptions == 1)
    #expect(state.value == 2)
    #expect(!state.isLoading)
  }

  @Test func `a signal that is followed in a change is followed when that is made`() {
    state.follow(source.signal)
    observe(state.value) { [state] in state.follow(.just(2)) }

    source.next(1)

    #expect(source.disposals == 1)
    #expect(state.value == 2)
    #expect(!state.isLoading)
  }

  @Test func `an observer that stops when it receives a change does so once`() {
    state.follow(source.signal)
    observe(state.progress) { [state] in state.stop() }

    source.progress(SignalProgress(completed: 1))

    #expect(source.disposals == 1)
    #expect(state.progress == nil)
    #expect(!state.isLoading)
  }

  @Test func `each property wakes only its own observers`() {
    let changes = Journal<String>()
    state.follow(source.signal)
    observe(state.value) { changes.write("value") }
    observe(state.error) { changes.write("error") }
    observe(state.progress) { changes.write("progress") }
    observe(state.isLoading) { changes.write("isLoading") }

    source.progress(SignalProgress(completed: 1))
    let first = changes.entries
    source.next(1)
    let second = changes.entries
    source.failed(Trouble.some)

    #expect(first == ["progress"])
    #expect(second == ["progress", "value", "isLoading"])
    #expect(changes.entries == ["progress", "value", "isLoading", "error"])
  }

  private func observe<Property>(
    _ property: @autoclosure () -> Property, _ onChange: @escaping @MainActor @Sendable () -> Void
  ) {
    withObservationTracking {
      _ = property()
    } onChange: {
      MainActor.assumeIsolated { onChange() }
    }
  }
}
