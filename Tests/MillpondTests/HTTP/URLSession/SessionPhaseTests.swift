import Testing

@testable import Millpond

@Suite struct SessionPhaseTests {
  @Test func `a task is cancelled once`() {
    var phase = SessionPhase()

    let cancels = [phase.cancel(), phase.cancel()]

    #expect(cancels == [true, false])
    #expect(!phase.isActive)
  }

  @Test func `a task that has ended is not cancelled`() {
    var phase = SessionPhase()

    let reports = phase.end()
    let cancels = phase.cancel()

    #expect(reports && !cancels)
  }

  @Test func `a cancelled task reports neither its head nor its end`() {
    var phase = SessionPhase()
    _ = phase.cancel()

    let reports = [phase.beginHead(), phase.end()]

    #expect(reports == [false, false])
  }

  @Test func `a cancelled task is not answered`() {
    var phase = SessionPhase()
    _ = phase.cancel()

    let answers = phase.beginAnswer()

    #expect(!answers)
  }

  @Test func `a cancellation waits for the answer to be in`() {
    var phase = SessionPhase()
    _ = phase.beginAnswer()

    let cancelsAtOnce = phase.cancel()
    let cancelsThen = phase.endAnswer()

    #expect(!cancelsAtOnce && cancelsThen)
  }

  @Test func `an answered task goes on`() {
    var phase = SessionPhase()

    let answers = phase.beginAnswer()
    let cancels = phase.endAnswer()

    #expect(answers && !cancels)
    #expect(phase.isActive)
  }
}
