import MillpondSignals
import MillpondTesting
import Testing

@Suite struct ValueDebouncerTests {
  let clock = ManualClock()
  let acts = Journal<String>()
  let debouncer: ValueDebouncer<String>

  init() {
    debouncer = ValueDebouncer(after: .seconds(1), clock: clock) { [acts] in acts.write($0) }
  }

  @Test func `it acts on the newest value`() {
    for text in ["a", "ab", "abc"] { debouncer.receive(text) }
    clock.run()

    #expect(acts.entries == ["abc"])
  }

  @Test func `it does not act on the value it acted on last`() {
    debouncer.receive("a")
    clock.run()
    debouncer.receive("ab")
    debouncer.receive("a")
    clock.run()

    #expect(acts.entries == ["a"])
  }

  @Test func `it acts again on a value that differs from the last one`() {
    for text in ["a", "b", "a"] {
      debouncer.receive(text)
      clock.run()
    }

    #expect(acts.entries == ["a", "b", "a"])
  }
}
