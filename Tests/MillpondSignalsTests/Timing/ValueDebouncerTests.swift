import MillpondSignals
import MillpondTesting
import Testing

@MainActor @Suite struct ValueDebouncerTests {
  let clock = ManualClock()
  let acts = Journal<String>()
  let debouncer: ValueDebouncer<String>

  init() {
    debouncer = ValueDebouncer("", after: .seconds(1), clock: clock) { [acts] in acts.write($0) }
  }

  @Test func `it acts on the newest value, which can be read at any time`() {
    for text in ["a", "ab", "abc"] {
      debouncer.value = text
      #expect(debouncer.value == text)
    }
    #expect(acts.entries.isEmpty)
    clock.run()

    #expect(acts.entries == ["abc"])
  }

  @Test func `the first value is no change`() {
    debouncer.value = ""
    clock.run()

    #expect(acts.entries.isEmpty)
    #expect(clock.pendingCount == 0)
  }

  @Test func `an equal value neither acts nor prolongs the wait`() {
    debouncer.value = "a"
    clock.advance(by: .milliseconds(900))
    debouncer.value = "a"
    clock.advance(by: .milliseconds(100))
    debouncer.value = "a"
    clock.run()

    #expect(acts.entries == ["a"])
  }

  @Test func `a value that changes away and back acts again`() {
    debouncer.value = "a"
    clock.run()
    debouncer.value = "b"
    debouncer.value = "a"
    clock.run()

    #expect(acts.entries == ["a", "a"])
  }

  @Test func `a cancelled change keeps its value`() {
    debouncer.value = "a"
    debouncer.cancel()
    clock.run()
    #expect(acts.entries.isEmpty)
    #expect(debouncer.value == "a")

    debouncer.value = "b"
    clock.run()
    #expect(acts.entries == ["b"])
  }

  @Test func `a former value is released without a lock`() {
    let box = Box<ValueDebouncer<Released>>()
    let debouncer = ValueDebouncer(
      Released { _ = box.value?.value }, after: .seconds(1), clock: clock
    ) { _ in }
    box.put(debouncer)

    debouncer.value = Released {}

    box.take()
  }
}

/// A value that runs a closure when it is released; only one value equals it.
private final class Released: Sendable, Equatable {
  private let witness: Witness

  init(_ onRelease: @escaping @Sendable () -> Void) {
    witness = Witness(onRelease)
  }

  static func == (left: Released, right: Released) -> Bool { left === right }
}
