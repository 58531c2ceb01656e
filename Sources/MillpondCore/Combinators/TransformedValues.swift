public import MillpondSignals

extension Source {
  /// Answers values changed by `transform`, in one direction only.
  ///
  /// The result is a source and not a cache, since it cannot be written: a get with
  /// ``Freshness/cachedOnly`` finds nothing here. To map in both directions use
  /// ``mapValues(_:undecodable:)``.
  ///
  /// - Parameter transform: Runs at every get, on the thread that answers; its errors fail the get
  ///   unchanged.
  public func mapValues<NewValue>(
    _ transform: @escaping @Sendable (Value) throws -> NewValue
  ) -> TransformedValues<Self, NewValue> {
    TransformedValues(base: self, transform: .now { _, value in try transform(value) })
  }

  /// Answers values changed by `transform` in a task, in one direction only.
  ///
  /// Otherwise the same as ``mapValues(_:)``. There are no immediate hits.
  ///
  /// - Parameter transform: Its errors fail the get unchanged. Its task is cancelled when no caller
  ///   waits for the answer any more.
  public func mapValues<NewValue>(
    asynchronously transform: @escaping @Sendable (Value) async throws -> NewValue
  ) -> TransformedValues<Self, NewValue> {
    TransformedValues(
      base: self, transform: .later { _, value in try await transform(value) })
  }
}

/// A source that changes values on their way out.
public struct TransformedValues<Base: Source, NewValue: Sendable>: AnsweringSource {
  /// The key type of the base.
  public typealias Key = Base.Key

  /// The new value type.
  public typealias Value = NewValue

  @usableFromInline let base: Base
  @usableFromInline let transform: ValueTransform<Key, Base.Value, NewValue>

  init(base: Base, transform: ValueTransform<Key, Base.Value, NewValue>) {
    self.base = base
    self.transform = transform
  }

  /// Returns the base's answer, changed; it keeps its age.
  @inlinable
  public func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<NewValue>> {
    transform.changed(base.answers(key, lookup), of: key)
  }

  /// Returns the base's immediate value, changed; `nil` if `transform` throws or is asynchronous.
  ///
  /// The get that follows calls `transform` again, and fails with its error.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> NewValue? {
    transform.changedNow(of: base, key, lookup)
  }

  /// The base and the transformation.
  public func topology(for key: Key?) -> Topology {
    Topology(.wrapper, "values transformed", of: base.topology(for: key))
  }
}
