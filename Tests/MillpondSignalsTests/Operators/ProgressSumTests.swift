import MillpondSignals
import MillpondTesting
import Testing

@Suite struct ProgressSumTests {
  let recorder = Recorder<[Int]>()

  @Test(arguments: [2, 1_000])
  func `many together are summed exactly, though they saturate on the way`(count: Int) {
    let sources = (0..<count).map { _ in TestSource<Int>() }
    recorder.subscribe(to: zip(sources.map(\.signal)))

    for source in sources { source.progress(SignalProgress(completed: .max, total: .max)) }
    #expect(recorder.progress.last == SignalProgress(completed: .max, total: .max))

    for source in sources { source.progress(SignalProgress(completed: 1, total: 2)) }
    #expect(recorder.progress.last == SignalProgress(completed: count, total: 2 * count))
  }

  @Test func `one without a total leaves the sum without one, until it has one`() {
    let sources = [TestSource<Int>(), TestSource<Int>()]
    recorder.subscribe(to: zip(sources.map(\.signal)))

    sources[0].progress(SignalProgress(completed: 1, total: 4))
    #expect(recorder.progress.last == SignalProgress(completed: 1))
    sources[1].progress(SignalProgress(completed: 2, total: 2))
    #expect(recorder.progress.last == SignalProgress(completed: 3, total: 6))
    sources[1].progress(SignalProgress(completed: 2))
    #expect(recorder.progress.last == SignalProgress(completed: 3))
    // Optimised, one that is not used any more would be released, and fail the signal.
    withExtendedLifetime(sources) {}
  }
}
