import Dispatch
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct ReceiveOnMainTests {
  let source = TestSource<Int>()

  @MainActor @Test func `on the main thread a ready value arrives inside the call`() {
    let journal = Journal<String>()

    let handle = Signal.just(1).subscribeOnMain(
      onNext: { journal.write("\($0)") }, onCompleted: { journal.write("completed") })

    #expect(journal.entries == ["1", "completed"])
    #expect(handle.isDisposed)
  }

  @MainActor @Test func `a value sent on the main thread arrives inside the sending`() {
    let recorder = Recorder<Int>().subscribe(to: source.signal.receive(on: MainActor.shared))

    source.next(1)
    source.next(2)

    #expect(recorder.values == [1, 2])
  }

  @MainActor @Test func `a value sent from a callback on the main thread is delivered after it`() {
    let recorder = Recorder<Int>()
    recorder.subscribe(to: source.signal.receive(on: MainActor.shared)) { [source] event in
      if case .next(1) = event { source.next(2) }
    }

    source.next(1)

    #expect(recorder.values == [1, 2])
    #expect(recorder.violations.isEmpty)
  }

  @Test func `values sent on another thread hop to the main actor, in order`() async throws {
    let recorder = Recorder<Int>()
    recorder.subscribe(to: source.signal.receive(on: MainActor.shared)) { _ in
      MainActor.assertIsolated()
    }

    onThread { [source] in
      for value in 0..<100 { source.next(value) }
      source.completed()
    }
    try await recorder.ended()

    #expect(recorder.values == Array(0..<100))
    #expect(recorder.violations.isEmpty)
  }

  @Test func `the closures of subscribeOnMain run on the main actor`() async throws {
    let journal = Watched<[String]>([])
    source.signal.subscribeOnMain(
      onProgress: { progress in
        MainActor.assertIsolated()
        journal.change { $0.append("progress \(progress.completed)") }
      },
      onNext: { value in
        MainActor.assertIsolated()
        journal.change { $0.append("next \(value)") }
      },
      onFailed: { error in
        MainActor.assertIsolated()
        journal.change { $0.append("failed \(error)") }
      })

    source.progress(SignalProgress(completed: 1))
    source.next(2)
    source.failed(Trouble.some)
    try await journal.wait(for: "three events") { $0.count == 3 }

    #expect(journal.state == ["progress 1", "next 2", "failed some"])
  }

  @MainActor @Test func `values that wait for the main thread precede those sent there`()
    async throws
  {
    let recorder = Recorder<Int>().subscribe(to: source.signal.receive(on: MainActor.shared))
    let sent = Gate()
    onThread { [source] in
      source.next(1)
      sent.open()
    }
    // The main thread is held here, so that the first value has to wait for it.
    sent.pass()

    source.next(2)
    source.completed()
    try await recorder.ended()

    #expect(recorder.values == [1, 2])
  }

  @MainActor @Test func `disposal on the main thread silences what waits for it`() async throws {
    let recorder = Recorder<Int>().subscribe(to: source.signal.receive(on: MainActor.shared))
    let marker = Recorder<Int>()
    let sent = Gate()
    onThread { [source] in
      source.next(1)
      marker.subscribe(to: Signal.empty.receive(on: MainActor.shared))
      sent.open()
    }
    sent.pass()

    recorder.dispose()
    try await marker.ended()

    #expect(recorder.events.isEmpty)
    #expect(source.disposals == 1)
  }
}
