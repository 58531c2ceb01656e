import MillpondSignals
import MillpondTesting
import Testing

@Suite struct DisposableTests {
  let journal = Journal<String>()

  @Test func `an empty handle is disposed of already`() {
    #expect(Disposable().isDisposed)
  }

  @Test func `dispose runs the teardown, and only the first time`() {
    let disposable = Disposable { journal.write("down") }
    let wasDisposed = disposable.isDisposed

    disposable.dispose()
    disposable.dispose()

    #expect(!wasDisposed)
    #expect(disposable.isDisposed)
    #expect(journal.entries == ["down"])
  }

  @Test func `concurrent dispose runs the teardown once`() async throws {
    for _ in 0..<500 {
      let runs = Watched(0)
      let disposable = Disposable { runs.change { $0 += 1 } }

      try await race(4) { _ in disposable.dispose() }

      #expect(runs.state == 1)
    }
  }

  @Test func `dropping a handle disposes of nothing`() {
    let source = TestSource<Int>()

    source.signal.subscribe()

    #expect(source.activeRuns == 1)
  }

  @Test func `a teardown may dispose of its own handle`() {
    let box = Box<Disposable>()
    let disposable = Disposable {
      box.value?.dispose()
      journal.write("down")
    }
    box.put(disposable)

    disposable.dispose()

    #expect(journal.entries == ["down"])
  }
}
