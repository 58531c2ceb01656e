import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

@Suite struct WriteOutcomeTests {
  private struct Broken: Error {}

  private let outcome = WriteOutcome()
  private let source = TestSource<Void>()

  @Test func `a change of a disposed outcome is not made`() {
    let changes = Watched(0)
    let subscription = outcome.signal.map { changes.change { $0 += 1 } }.subscribe()
    subscription.dispose()

    outcome.end()?()

    #expect(changes.state == 0)
  }

  @Test func `a subscriber that leaves is released while the write goes on`() {
    final class Witness: Sendable {}
    weak var witness: Witness?
    do {
      let captured = Witness()
      witness = captured
      outcome.signal.subscribe { _ in withExtendedLifetime(captured) {} }.dispose()
    }

    #expect(witness == nil)
    let stayed = Recorder<Void>().subscribe(to: outcome.signal)
    outcome.end()?()
    #expect(stayed.isCompleted)
  }

  @Test(arguments: [true, false])
  func `a fill sends its value when it is admitted, and only then`(isAdmitted: Bool) {
    let early = Recorder<Void>().subscribe(to: outcome.signal(ofFill: isAdmitted))
    #expect(early.values.count == (isAdmitted ? 1 : 0) && !early.isCompleted)

    outcome.end()?()
    let late = Recorder<Void>().subscribe(to: outcome.signal(ofFill: isAdmitted))

    for recorder in [early, late] {
      #expect(recorder.values.count == (isAdmitted ? 1 : 0) && recorder.isCompleted)
      #expect(recorder.violations.isEmpty)
    }
  }

  @Test func `an outcome that follows another runs it once, and passes on its progress and end`() {
    outcome.follow(source.signal) { _ in nil }
    let recorders = [Recorder<Void>(), Recorder<Void>()]
    for recorder in recorders { recorder.subscribe(to: outcome.signal) }

    source.progress(SignalProgress(completed: 1))
    source.completed()

    #expect(source.subscriptions == 1)
    for recorder in recorders {
      #expect(recorder.events.count == 3 && recorder.values.count == 1 && recorder.isCompleted)
    }
  }

  @Test func `a failure is followed by its replacement, whose own failure is the end`() {
    outcome.follow(.fail(Broken())) { [source] _ in source.signal }
    let recorder = Recorder<Void>().subscribe(to: outcome.signal)
    #expect(recorder.events.isEmpty)

    source.failed(Broken())

    #expect(recorder.failure is Broken)
  }

  @Test func `a failure without a replacement is the end`() {
    outcome.follow(.fail(Broken())) { _ in nil }

    #expect(Recorder<Void>().subscribe(to: outcome.signal).failure is Broken)
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
