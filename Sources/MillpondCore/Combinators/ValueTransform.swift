public import MillpondSignals

/// A change of values on their way out of a source, on the thread that answers or in a task.
@usableFromInline
enum ValueTransform<Key: Hashable & Sendable, Value: Sendable, NewValue: Sendable>: Sendable {
  case now(@Sendable (Key, Value) throws -> NewValue)
  case later(@Sendable (Key, Value) async throws -> NewValue)

  /// Changes the values of an answer, which keep their ages; an error of the function fails it.
  @inlinable
  func changed(_ answers: Signal<Answer<Value>>, of key: Key) -> Signal<Answer<NewValue>> {
    switch self {
    case .now(let change): answers.attemptMap { try $0.attemptMap { try change(key, $0) } }
    case .later(let change):
      answers.flatMap { answer in answer.changed { try await change(key, $0) } }
    }
  }

  /// Returns the source's immediate value, changed; nil if the function throws or takes time.
  @inlinable
  func changedNow<Base: Source<Key, Value>>(
    of base: Base, _ key: Key, _ lookup: Lookup
  ) -> NewValue? {
    guard case .now(let change) = self else { return nil }
    return base.now(key, lookup) { try? change(key, $0) }
  }
}
