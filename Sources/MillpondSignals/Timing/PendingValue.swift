/// A value that is held back until a deadline, and the completion behind it.
///
/// The common part of the rules of `debounce`, `sample(every:)` and `throttle`.
@usableFromInline
@frozen
package struct PendingValue<Value: Sendable>: Sendable {
  @usableFromInline package var deadline: Duration?
  @usableFromInline var value: Value?
  @usableFromInline var isClosed = false

  @inlinable
  package init() {}

  /// Holds `new` in place of the present value.
  @inlinable
  package mutating func hold(_ new: Value, until deadline: Duration) {
    value = new
    self.deadline = deadline
  }

  /// Drops the held value and its deadline.
  @inlinable
  package mutating func drop() {
    value = nil
    deadline = nil
  }

  /// Handles an event without a value, and returns it if it passes now.
  ///
  /// A completion makes a held value due at once, and waits behind it; every other event passes.
  @inlinable
  package mutating func received(
    _ event: Event<Value>, at now: Duration
  ) -> Event<Value>? {
    guard case .completed = event, value != nil else { return event }
    isClosed = true
    deadline = now
    return nil
  }

  /// Returns the event that is due: the value first, then the completion.
  @inlinable
  package mutating func takeDue(at now: Duration) -> Event<Value>? {
    defer { value = nil }
    deadline = isClosed && value != nil ? now : nil
    return value.map { .next($0) } ?? (isClosed ? .completed : nil)
  }
}
