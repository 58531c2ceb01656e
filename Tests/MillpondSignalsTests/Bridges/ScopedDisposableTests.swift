import MillpondSignals
import MillpondTesting
import Testing

@Suite struct ScopedDisposableTests {
  let source = TestSource<Int>()

  @Test func `releasing a scoped handle disposes`() {
    var handle: ScopedDisposable? = source.signal.subscribe().scoped()
    #expect(source.activeRuns == 1)

    withExtendedLifetime(handle) {}
    handle = nil

    #expect(handle == nil)
    #expect(source.disposals == 1)
  }

  @Test func `a scoped handle disposes when asked to, and not again`() {
    let handle = source.signal.subscribe().scoped()

    handle.dispose()
    handle.dispose()

    #expect(source.disposals == 1)
  }
}
