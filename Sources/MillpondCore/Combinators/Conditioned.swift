public import MillpondSignals

extension Source {
  /// Passes a get on only if `condition` holds for its key; each get checks anew.
  ///
  /// Otherwise the get fails with ``CacheError/refused(key:)``, since a miss would mean that there
  /// is no value. Errors of the condition fail the get unchanged. Writes are not checked. There are
  /// no immediate hits. In an upper layer a refusal counts as any other failure: the lower layer is
  /// asked.
  ///
  /// - Parameter condition: Runs in a task, which is cancelled when the caller leaves.
  @inlinable
  public func conditioned(
    _ condition: @escaping @Sendable (Key) async throws -> Bool
  ) -> Conditioned<Self> {
    Conditioned(base: self, condition: condition)
  }
}

/// A source or cache that passes on gets only of keys that satisfy a condition.
public struct Conditioned<Base: Source>: Detour {
  /// The key type of the base.
  public typealias Key = Base.Key

  /// The value type of the base.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let condition: @Sendable (Key) async throws -> Bool
  @usableFromInline var title: String { "conditioned" }

  @inlinable
  init(base: Base, condition: @escaping @Sendable (Key) async throws -> Bool) {
    self.base = base
    self.condition = condition
  }

  /// Returns `nil`: the condition takes time.
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
