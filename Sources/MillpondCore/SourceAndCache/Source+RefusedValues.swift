import MillpondSignals

// An immediate value that a wrapper refuses was counted and reported below as a hit. The get that
// follows counts and reports it again, so the first hit is taken back.

extension Source {
  /// Returns the immediate value as a wrapper answers it.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - lookup: The terms of the get.
  ///   - change: Returns the wrapper's answer; nil if it refuses the value.
  @inlinable
  func now<NewValue>(
    _ key: Key, _ lookup: Lookup, changedBy change: (Value) -> NewValue?
  ) -> NewValue? {
    if lookup.hasListeners { return heardNow(key, lookup, changedBy: change) }
    guard let value = now(key, lookup) else { return nil }
    if let changed = change(value) { return changed }
    takeBackHit(key, lookup)
    return nil
  }

  @usableFromInline
  func heardNow<NewValue>(
    _ key: Key, _ lookup: Lookup, changedBy change: (Value) -> NewValue?
  ) -> NewValue? {
    guard let reports = DeferredReports(of: lookup), let value = now(key, reports.lookup) else {
      return nil
    }
    guard let changed = change(value) else {
      takeBackHit(key, lookup)
      return nil
    }
    reports.passOn()
    return changed
  }

  @usableFromInline
  func takeBackHit(_ key: Key, _ lookup: Lookup) {
    guard lookup.counting == .hits else { return }
    _ = now(key, Lookup(freshness: lookup.freshness).counting(.takenBack))
  }
}
