import MillpondCore

extension EntityStore {
  /// Ends the time of a user: at its return nothing is stored, and nobody waits for anything from
  /// before.
  ///
  /// Who observes or waits gets ``CacheError/scopeEnded`` before this returns, and nothing of the
  /// removals; one whose callback runs on another thread meanwhile gets it right after that. What
  /// sources were asked for before is not stored. What is set and asked afterwards belongs to the
  /// next user. Not to be called within a transaction, which would be committed after it.
  ///
  /// A store that is made with a ``CacheScope`` ends with that.
  public func end() {
    core.end()
  }
}

extension EntityCore {
  func end() {
    removeAll(isSilent: true)
    failAll(CacheError.scopeEnded)
  }
}
