import MillpondSignals
import Testing

@Suite struct EventTests {
  @Test func `only failed and completed are terminal`() {
    #expect(!Event.next(1).isTerminal)
    #expect(!Event<Int>.progress(SignalProgress(completed: 1)).isTerminal)
    #expect(Event<Int>.failed(Trouble.some).isTerminal)
    #expect(Event<Int>.completed.isTerminal)
  }
}
