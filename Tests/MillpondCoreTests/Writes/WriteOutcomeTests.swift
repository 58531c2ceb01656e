import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

@Suite struct WriteOutcomeTests {
  private struct Broken: Error {}

  @Test(arguments: [true, false])
  func `a fill sends its value when it is admitted, and only then`(isAdmitted: Bool) {
    let promise = Promise<Void>()
    let early = Recorder<Void>().subscribe(to: promise.outcome(ofFill: isAdmitted))
    #expect(early.values.count == (isAdmitted ? 1 : 0) && !early.isCompleted)

    promise.end()
    let late = Recorder<Void>().subscribe(to: promise.outcome(ofFill: isAdmitted))

    for recorder in [early, late] {
      #expect(recorder.values.count == (isAdmitted ? 1 : 0) && recorder.isCompleted)
      #expect(recorder.violations.isEmpty)
    }
  }

  @Test func `a failed set is followed by a removal, whose failure is hidden by the first`() {
    let layer = TestCache<String, Int>()
    let set = TestSource<Void>()
    let outcome = WriteOutcome.orRemoved(
      "a", .next(), in: layer, TestCache<String, Int>(), set.signal)
    let recorders = [Recorder<Void>(), Recorder<Void>()]
    for recorder in recorders { recorder.subscribe(to: outcome) }

    set.progress(SignalProgress(completed: 1))
    set.failed(Broken())

    #expect(set.subscriptions == 1)
    for recorder in recorders {
      #expect(recorder.events.count == 2)
      guard case CacheError.partlyStored? = recorder.failure else {
        Issue.record("the failure of the set was expected")
        return
      }
    }
  }

  /// The lower layer of two fails at once if a value is too large for it, for example.
  @Test func `of two fills the one that is admitted is told of, whichever fails at once`() {
    let admitted = Signal<Void>.just(())
    for outcome in [
      WriteOutcome.any(.fail(Broken()), admitted), WriteOutcome.any(admitted, .fail(Broken())),
    ] {
      let recorder = Recorder<Void>().subscribe(to: outcome)
      #expect(recorder.values.count == 1 && recorder.failure is Broken)
    }
  }
}
