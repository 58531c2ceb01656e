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
  ) -> Governed<Self> {
    Governed(self, by: .condition(condition))
  }

  /// Passes a get on only if `condition`, which takes time, holds for its key.
  ///
  /// Otherwise the same as the form with a synchronous condition, but there are no immediate hits.
  ///
  /// - Parameter condition: Runs in a task, which is cancelled when the caller leaves.
  @inlinable
  public func conditioned(
    _ condition: @escaping @Sendable (Key) async throws -> Bool
  ) -> Governed<Self> {
    Governed(self, by: .lateCondition(condition))
  }
}
