public import MillpondSignals

extension Source {
  /// Passes a get on only if `condition` holds for its key; each get checks anew.
  ///
  /// Otherwise the get fails with ``CacheError/refused(key:)``, since a miss would mean that there
  /// is no value. Errors of the condition fail the get unchanged. Writes are not checked. A hit
  /// stays immediate. In an upper layer a refusal counts as any other failure: the lower layer is
  /// asked.
  ///
  /// - Parameter condition: Called at every get, on its thread, so keep it cheap.
  @inlinable
  public func conditioned(
    _ condition: @escaping @Sendable (Key) throws -> Bool
  ) -> Conditioned<Self> {
    Conditioned(base: self, condition: .now(condition))
  }

  /// Passes a get on only if `condition`, which takes time, holds for its key.
  ///
  /// Otherwise the same as the form with a synchronous condition, but there are no immediate hits.
  ///
  /// - Parameter condition: Runs in a task, which is cancelled when the caller leaves.
  @inlinable
  public func conditioned(
    _ condition: @escaping @Sendable (Key) async throws -> Bool
  ) -> Conditioned<Self> {
    Conditioned(base: self, condition: .later(condition))
  }
}

/// A source or cache that passes on gets only of keys that satisfy a condition.
public struct Conditioned<Base: Source>: GetWrapper {
  /// The key type of the base.
  public typealias Key = Base.Key

  /// The value type of the base.
  public typealias Value = Base.Value

  @usableFromInline
  enum Condition: Sendable {
    case now(@Sendable (Key) throws -> Bool)
    case later(@Sendable (Key) async throws -> Bool)
  }

  @usableFromInline let base: Base
  @usableFromInline let condition: Condition
  @usableFromInline var title: String { "conditioned" }

  @inlinable
  init(base: Base, condition: Condition) {
    self.base = base
    self.condition = condition
  }

  /// Returns the base's immediate value; `nil` if the condition does not hold, or takes time.
  ///
  /// The get that follows checks the condition again.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    guard case .now(let condition) = condition, (try? condition(key)) == true else { return nil }
    return base.now(key, lookup)
  }

  @inlinable
  func answer<Answer>(
    to key: Key, _ lookup: Lookup, _ ask: @escaping @Sendable () -> Signal<Answer>
  ) -> Signal<Answer> {
    switch condition {
    case .now(let condition):
      .deferred { .attempt { try condition(key) ? ask() : refusal(of: key) } }
    case .later(let condition):
      Signal<Bool>.async { try await condition(key) }.flatMap { holds in
        holds ? ask() : refusal(of: key)
      }
    }
  }

  @usableFromInline
  func refusal<Answer>(of key: Key) -> Signal<Answer> {
    .fail(CacheError.refused(key: String(withoutSecrets: key)))
  }
}

extension Conditioned: Cache where Base: Cache {}
