public import MillpondSignals

extension Cache {
  /// Replaces the value of `key` by one that is made from it: one write, which no other update comes
  /// between.
  ///
  ///     let visits = try await counters.update("home") { ($0 ?? 0) + 1 }.value
  ///
  /// Starts at once. Updates of a key are made one after another, also from several threads and
  /// through several wrappers of one cache with the same keys and values; other processes have their
  /// own. In the order of writes it stands where it began: a set or a removal that comes while the
  /// stored value is read wins. The new value counts as set now, without a time to live of its own.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - transform: Returns the new value; nil removes it, and an error leaves it as it is. Its
  ///     parameter is the value of a get with ``Freshness/cachedOnly``; nil if there is none. Called
  ///     once, without a lock.
  /// - Returns: The outcome, which may be ignored; disposing of it cancels nothing. It sends the new
  ///   value when that is stored, or fails with the error of `transform`, of reading or of writing.
  @discardableResult
  public func update(
    _ key: Key, _ transform: @escaping @Sendable (Value?) throws -> Value?
  ) -> Signal<Value?> {
    let change = Signal<(value: Value?, outcome: Signal<Void>)>.deferred {
      // Before the value is read: a write that it might miss is later, and wins.
      let revision = Revision.next()
      return get(key, Lookup(freshness: .cachedOnly)).take(1).map { Optional($0) }
        .ifEmpty { .just(nil) }
        .attemptMap { old in
          let new = try transform(old)
          let change: Change<Key, Value> =
            new.map { .set(key, $0, revision) } ?? .remove(key, revision)
          return (new, apply(change))
        }
    }
    let place = UpdatedPlace(hash: key.mixedHash, type: ObjectIdentifier(Value.self))
    return updateTurns.inTurn(place, change)
      .flatMap { change in change.outcome.map { change.value } }.started()
  }
}

/// The turns of all updates under way.
///
/// Several wrappers may lead to one store, and only the process is common to them.
private let updateTurns = KeyTurns<UpdatedPlace>()

/// A key by its hash, with the type of its values; two with one place merely wait for each other.
private struct UpdatedPlace: Hashable, Sendable {
  let hash: Int
  let type: ObjectIdentifier
}
