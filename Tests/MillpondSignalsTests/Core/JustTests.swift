import MillpondSignals
import MillpondTesting
import Testing

@Suite struct JustTests {
  let recorder = Recorder<Int>()

  @Test func `just sends its value and completes`() {
    recorder.subscribe(to: .just(1))

    #expect(recorder.transcript == ["next 1", "completed"])
  }

  @Test func `just through subscribe is over when that returns`() {
    let journal = Journal<String>()

    let handle = Signal.just(1).subscribe(
      onNext: { journal.write("\($0)") }, onCompleted: { journal.write("completed") })

    #expect(journal.entries == ["1", "completed"])
    #expect(handle.isDisposed)
  }

  @Test func `empty completes`() {
    recorder.subscribe(to: .empty)

    #expect(recorder.transcript == ["completed"])
  }

  @Test func `fail fails with the very error`() {
    recorder.subscribe(to: .fail(Trouble.some))

    #expect(recorder.failure as? Trouble == .some)
    #expect(recorder.values.isEmpty)
  }

  @Test func `never sends nothing and can be disposed of`() {
    let handle = Signal<Int>.never.subscribe()
    let wasDisposed = handle.isDisposed

    handle.dispose()

    #expect(!wasDisposed)
    #expect(handle.isDisposed)
  }

  @Test func `deferred makes the signal anew for each subscription`() {
    let count = Locked(0)
    let signal = Signal.deferred {
      .just(
        count.withLock { count in
          count += 1
          return count
        })
    }
    let made = count.withLock { $0 }

    recorder.subscribe(to: signal)
    let second = Recorder<Int>().subscribe(to: signal)

    #expect(made == 0)
    #expect(recorder.values == [1])
    #expect(second.values == [2])
  }

  @Test func `disposing of a deferred signal stops what it made`() {
    let source = TestSource<Int>()

    Signal.deferred { source.signal }.subscribe().dispose()

    #expect(source.disposals == 1)
  }
}
