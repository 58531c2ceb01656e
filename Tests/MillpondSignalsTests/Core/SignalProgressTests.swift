import MillpondSignals
import Testing

@Suite struct SignalProgressTests {
  @Test func `the fraction is what is done of the total`() {
    #expect(SignalProgress(completed: 1, total: 4).fraction == 0.25)
  }

  @Test func `without a total there is no fraction`() {
    #expect(SignalProgress(completed: 1).fraction == nil)
  }

  @Test func `of nothing everything is done`() {
    #expect(SignalProgress(completed: 0, total: 0).fraction == 1)
  }

  @Test func `the fraction is never over one`() {
    #expect(SignalProgress(completed: 5, total: 4).fraction == 1)
  }

  @Test func `negative counts are taken as zero and as unknown`() {
    let progress = SignalProgress(completed: -1, total: -1)

    #expect(progress.completed == 0)
    #expect(progress.total == nil)
  }
}
