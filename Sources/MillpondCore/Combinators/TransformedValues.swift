public import MillpondSignals

extension Source {
  /// Answers its values changed by `transform`, one way only.
  ///
  /// The result can't be told anything, so it is a source and no cache: an ask for what is cached only
  /// finds nothing here. For values that can be turned back there is
  /// ``mapValues(_:)-(Codec<Value,NewValue>)``.
  ///
  /// - Parameter transform: What it throws fails the get as it was thrown. It runs at every get, on
  ///   the thread that answers.
  @inlinable
  public func mapValues<NewValue>(
    _ transform: @escaping @Sendable (Value) throws -> NewValue
  ) -> TransformedValues<Self, NewValue> {
    TransformedValues(base: self, transform: .now(transform))
  }

  /// Answers its values changed by `transform` in a task, one way only.
  ///
  /// As ``mapValues(_:)-((Value)->NewValue)`` does otherwise. Nothing is there at once.
  ///
  /// - Parameter transform: What it throws fails the get as it was thrown. Its task is cancelled when
  ///   nobody waits for the answer any more.
  @inlinable
  public func mapValues<NewValue>(
    asynchronously transform: @escaping @Sendable (Value) async throws -> NewValue
  ) -> TransformedValues<Self, NewValue> {
    TransformedValues(base: self, transform: .later(transform))
  }
}

/// A source whose values are changed on their way out.
public struct TransformedValues<Base: Source, NewValue: Sendable>: Source {
  /// What is asked for.
  public typealias Key = Base.Key

  /// What is answered.
  public typealias Value = NewValue

  @usableFromInline
  enum Transform: Sendable {
    case now(@Sendable (Base.Value) throws -> NewValue)
    case later(@Sendable (Base.Value) async throws -> NewValue)
  }

  @usableFromInline let base: Base
  @usableFromInline let transform: Transform

  @inlinable
  init(base: Base, transform: Transform) {
    self.base = base
    self.transform = transform
  }

  /// The base's answer, changed.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<NewValue> {
    switch transform {
    case .now(let transform): base.get(key, lookup).attemptMap(transform)
    case .later(let transform):
      base.get(key, lookup).flatMap { value in .async { try await transform(value) } }
    }
  }

  /// The base's answer, changed; it keeps its age.
  @inlinable
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<NewValue>> {
    let stamped = base.getStamped(key, lookup)
    return switch transform {
    case .now(let transform): stamped.attemptMap { try $0.map(transform) }
    case .later(let transform):
      stamped.flatMap { old in
        .async {
          let value = try await transform(old.value)
          return old.map { _ in value }
        }
      }
    }
  }

  /// What the base has at once, changed at once.
  ///
  /// If the change fails, it is tried again by the get that follows, and that fails.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> NewValue? {
    guard case .now(let transform) = transform, let value = base.now(key, lookup) else {
      return nil
    }
    return try? transform(value)
  }

  /// The base, and the change.
  public func layout(for key: Key?) -> Layout {
    Layout(.wrapper, "values transformed", of: base.layout(for: key))
  }
}
