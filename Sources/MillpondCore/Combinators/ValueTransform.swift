public import MillpondSignals

/// A change of values on their way out of a source, on the thread that answers or in a task.
@usableFromInline
enum ValueTransform<Key: Hashable & Sendable, Value: Sendable, NewValue: Sendable>: Sendable {
  case now(@Sendable (Key, Value) throws -> NewValue)
  case later(@Sendable (Key, Value) async throws -> NewValue)

  /// Changes the values of an answer; an error of the function fails it.
  @inlinable
  func changed(_ values: Signal<Value>, of key: Key) -> Signal<NewValue> {
    switch self {
    case .now(let change): values.attemptMap { try change(key, $0) }
    case .later(let change):
      values.flatMap { value in .async { try await change(key, value) } }
    }
  }

  /// Changes the values of an answer, which keep their ages.
  @inlinable
  func changed(_ values: Signal<Stamped<Value>>, of key: Key) -> Signal<Stamped<NewValue>> {
    switch self {
    case .now(let change): values.attemptMap { try $0.map { try change(key, $0) } }
    case .later(let change):
      values.flatMap { old in
        .async {
          let value = try await change(key, old.value)
          return old.map { _ in value }
        }
      }
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
