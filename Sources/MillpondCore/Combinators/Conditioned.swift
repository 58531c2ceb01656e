public import MillpondSignals

extension Source {
  /// Asks only if `condition` holds for the key, each time anew.
  ///
  /// If it doesn't, the get fails with ``CacheError/refused(key:)``: that nothing is known of the key
  /// would be another answer. What the condition throws fails the get as it was thrown. Only gets are
  /// conditioned, tellings are not; nothing is there at once. Over a lower layer a refusal is a failure
  /// like any other: the lower one is asked.
  ///
  /// - Parameter condition: Runs in a task, which is cancelled when the asker leaves.
  @inlinable
  public func conditioned(
    _ condition: @escaping @Sendable (Key) async throws -> Bool
  ) -> Conditioned<Self> {
    Conditioned(base: self, condition: condition)
  }
}

/// A source or cache that is asked only for keys for which a condition holds.
public struct Conditioned<Base: Source>: Detour {
  /// What is asked for.
  public typealias Key = Base.Key

  /// What is answered.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let condition: @Sendable (Key) async throws -> Bool
  @usableFromInline var title: String { "conditioned" }

  @inlinable
  init(base: Base, condition: @escaping @Sendable (Key) async throws -> Bool) {
    self.base = base
    self.condition = condition
  }

  /// Nothing: the condition takes time.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    nil
  }

  @inlinable
  func answer<Answer>(
    to key: Key, _ lookup: Lookup, _ ask: @escaping @Sendable () -> Signal<Answer>
  ) -> Signal<Answer> {
    Signal<Bool>.async { try await condition(key) }.flatMap { holds in
      holds ? ask() : .fail(CacheError.refused(key: "\(key)"))
    }
  }
}

extension Conditioned: Cache where Base: Cache {}
