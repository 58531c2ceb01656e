public import MillpondSignals

extension Cache {
  /// Returns the value for `key`, or else the one that `fetch` returns, which is then stored.
  ///
  ///     let user = try await users.get(7) { try await api.user(7) }.value
  ///
  /// It asks as the cache over a ``FunctionSource`` would, for this one get: a write that comes
  /// meanwhile wins. Calls that come together fetch once in a ``MemoryCache``, and each for itself
  /// in other caches; where one function serves all gets, put the cache over it once, with
  /// ``Source/reusingInFlight(maxFlights:clock:)``.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - fetch: Returns the value; cancelled when the caller leaves. Its errors fail the get
  ///     unchanged.
  public func get(
    _ key: Key, orFetch fetch: @escaping @Sendable () async throws -> Value
  ) -> Signal<Value> {
    layered(over: FunctionSource { (_: Key) in try await fetch() }).get(key)
  }
}

extension MemoryCache {
  /// Returns the value for `key`, or else the one that `fetch` returns, which is then stored; one
  /// call for all callers that come meanwhile.
  ///
  ///     let user = try await users.get(7) { try await api.user(7) }.value
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - fetch: Returns the value; cancelled when the last caller leaves. Its errors fail the get
  ///     unchanged.
  public func get(
    _ key: Key, orFetch fetch: @escaping @Sendable () async throws -> Value
  ) -> Signal<Value> {
    signal(for: key) { FunctionSource { (_: Key) in try await fetch() }.get(key) }
  }
}
