public import MillpondSignals

extension Cache {
  /// Returns whether there is a stored value for `key`, without asking an origin.
  ///
  /// Stores that know that they have none are not read. Otherwise it is a get with
  /// ``Freshness/cachedOnly``: it reads the value, counts as a use, and finds what such a get finds.
  ///
  /// - Parameter key: The key.
  /// - Returns: A signal that sends one answer, and fails if a store can't be read.
  public func contains(_ key: Key) -> Signal<Bool> {
    .deferred {
      let stores = topology(for: key).allParts.filter { $0.role == .store }
      if !stores.isEmpty, stores.allSatisfy({ $0.holds == false }) { return .just(false) }
      return get(key, freshness: .cachedOnly).map { _ in true }.take(1)
        .ifEmpty { .just(false) }
    }
  }
}
