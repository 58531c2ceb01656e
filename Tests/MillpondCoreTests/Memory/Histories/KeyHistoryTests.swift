import TestTraits
import Testing

@Suite(.heavy) struct KeyHistoryTests {
  /// Actions with the moments in which they began and ended.
  private func history(_ events: (KeyAction, Int, Int)...) -> KeyHistory {
    KeyHistory(events: events.map { KeyOperation(action: $0.0, began: $0.1, ended: $0.2) })
  }

  @Test func `calls that follow each other are in order`() {
    let right = history((.set(1), 1, 2), (.get(1), 3, 4), (.remove, 5, 6), (.get(nil), 7, 8))

    #expect(right.isInOrder())
  }

  @Test func `concurrent events may be seen in either order`() {
    let first = history((.set(1), 1, 4), (.set(2), 2, 3), (.get(1), 5, 6))
    let second = history((.set(1), 1, 4), (.set(2), 2, 3), (.get(2), 5, 6))

    #expect(first.isInOrder() && second.isInOrder())
  }

  @Test func `a value that was replaced before is detected`() {
    let wrong = history((.set(1), 1, 2), (.set(2), 3, 4), (.get(1), 5, 6))

    #expect(!wrong.isInOrder() && !wrong.isInOrder(evicts: true))
  }

  @Test func `two observers that saw two orders are detected`() {
    let wrong = history(
      (.set(1), 1, 9), (.set(2), 2, 10), (.get(1), 11, 12), (.get(2), 13, 14), (.get(1), 15, 16))

    #expect(!wrong.isInOrder())
  }

  @Test func `a value that was never set is detected`() {
    #expect(!history((.get(1), 1, 2)).isInOrder())
  }

  @Test func `a value that was removed before is detected`() {
    let wrong = history((.set(1), 1, 2), (.remove, 3, 4), (.get(1), 5, 6))

    #expect(!wrong.isInOrder() && !wrong.isInOrder(evicts: true))
  }

  @Test func `a set that is not seen is detected, unless values may go`() {
    let missed = history((.set(1), 1, 2), (.get(nil), 3, 4))

    #expect(!missed.isInOrder())
    #expect(missed.isInOrder(evicts: true))
  }

  @Test func `a value that was removed and comes back is detected`() {
    let wrong = history((.set(1), 1, 2), (.get(1), 3, 4), (.get(nil), 5, 6), (.get(1), 7, 8))

    #expect(!wrong.isInOrder(evicts: true))
    #expect(cameBack([1, nil, 1]) && cameBack([2, 1]) && cameBack([nil, 3, nil, nil, 3]))
    #expect(!cameBack([nil, 1, 1, nil, 2, 4, nil]))
  }
}
