/// A value that is held back until a deadline, and the completion behind it.
///
/// What the rules of `debounce`, `sample(every:)` and `throttle` have in common.
@usableFromInline
package struct HeldValue<Value: Sendable>: Sendable {
  @usableFromInline package var deadline: Duration?
  @usableFromInline var value: Value?
  @usableFromInline var isClosed = false

  @inlinable
  package init() {}

  /// Holds `new` in place of what was held.
  @inlinable
  package mutating func hold(_ new: Value, until deadline: Duration) {
    value = new
    self.deadline = deadline
  }

  /// Holds nothing any more.
  @inlinable
  package mutating func drop() {
    value = nil
    deadline = nil
  }

  /// What to do with an event that is no value: the completion makes what is held due at once, and
  /// waits behind it; everything else passes.
  @inlinable
  package mutating func received(
    _ event: Event<Value>, at now: Duration
  ) -> Event<Value>? {
    guard case .completed = event, value != nil else { return event }
    isClosed = true
    deadline = now
    return nil
  }

  /// What is due: the value first, then the completion.
  @inlinable
  package mutating func takeDue(at now: Duration) -> Event<Value>? {
    defer { value = nil }
    deadline = isClosed && value != nil ? now : nil
    return value.map { .next($0) } ?? (isClosed ? .completed : nil)
  }
}
