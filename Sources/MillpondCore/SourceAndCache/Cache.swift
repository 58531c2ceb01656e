public import MillpondSignals

/// A source that can be written: ``Source/apply(_:)`` stores values.
///
/// To write a cache of your own, implement ``Source/get(_:_:)`` and ``Source/apply(_:)``, or give
/// closures to ``AnyCache``.
public protocol Cache<Key, Value>: Source {}

extension Cache {
  /// Stores `value` for `key`, at once.
  ///
  /// Gets made after this returns see the value, and fills of earlier gets do not overwrite it.
  /// `try await cache.set(value, for: key).value` also waits until every layer has stored it;
  /// without `.value` there is nothing to await.
  ///
  /// - Returns: The outcome, which may be ignored; disposing of it cancels nothing.
  @inlinable
  @discardableResult
  public func set(_ value: Value, for key: Key) -> Signal<Void> {
    apply(.set(key, value, .next()))
  }

  /// Stores `value` for `key`, at once, with a time to live of its own.
  ///
  ///     cache.set(ticket, for: id, timeToLive: .minutes(20))
  ///     cache.set(price, for: id, timeToLive: .until(closing))
  ///     cache.set(logo, for: id, timeToLive: .forever)
  ///
  /// Every layer stores it for that long, whatever its own time to live; a layer that gets it back
  /// from another one later keeps it for the rest, or for its own time to live if that is shorter.
  /// A time that is over at once stores nothing, and removes the value stored before. It is counted
  /// from the arrival in each layer: what a codec takes in a task is not part of it. A later set
  /// without a time to live ends it. Stores that know no times, such as closures, ignore it.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - key: The key.
  ///   - timeToLive: The time to live from now on.
  /// - Returns: The outcome, which may be ignored; disposing of it cancels nothing.
  @inlinable
  @discardableResult
  public func set(_ value: Value, for key: Key, timeToLive: TimeToLive) -> Signal<Void> {
    apply(.set(key, Stamped(value, timeToLive: timeToLive), .next()))
  }

  /// Gives the stored value of `key` another time to live, from now on.
  ///
  /// It replaces the one that the value has of its own, and may be longer or shorter; a layer whose
  /// own time to live ends earlier keeps to that. With a time that is over at once the value is
  /// removed. Only layers that have the value renew it; none stores it anew. It is looked up as by a
  /// get with ``Freshness/cachedOnly``, and a write that comes meanwhile wins.
  ///
  /// - Parameters:
  ///   - timeToLive: The time to live from now on; forever for none of its own.
  ///   - key: The key.
  /// - Returns: The outcome, which may be ignored; disposing of it cancels nothing. True when the
  ///   change is stored; false if there is no stored value, or a write of the key came meanwhile.
  @discardableResult
  public func setTimeToLive(_ timeToLive: TimeToLive, for key: Key) -> Signal<Bool> {
    if timeToLive.isOverAtOnce { return remove(key).map { true } }
    // Taken before the value is looked up, so that later writes win. A renewal, since the value
    // that is stored stays as it is, also below wrappers that change it.
    let token = FillToken().ofRenewal()
    return getStamped(key, Lookup(freshness: .cachedOnly)).take(1)
      .flatMap { apply(.fill(key, $0.with(timeToLive), token)) }
      .map { true }.ifEmpty { .just(false) }.started()
  }

  /// Removes the value of `key`, at once.
  ///
  /// Removing an absent value succeeds.
  ///
  /// - Returns: The outcome, which may be ignored; disposing of it cancels nothing.
  @inlinable
  @discardableResult
  public func remove(_ key: Key) -> Signal<Void> {
    apply(.remove(key, .next()))
  }

  /// Removes all values, at once.
  ///
  /// - Returns: The outcome, which may be ignored; disposing of it cancels nothing.
  @inlinable
  @discardableResult
  public func removeAll() -> Signal<Void> {
    apply(.removeAll(.next()))
  }

  /// Removes the values of all keys that satisfy a predicate, at once.
  ///
  ///     try await cache.removeAll { $0.hasPrefix("user/7/") }.value
  ///
  /// It is one write: a later set of such a key wins, an earlier one that is still under way does
  /// not, and gets that run do not store their answers for such keys. Other keys are not affected.
  ///
  /// A layer that can't find its keys fails the outcome with
  /// ``CacheError/unsupported(layer:write:)``, which names it: a cache of closures without one for
  /// this, and ``Source/mapKeys(_:)`` without an inverse. The other layers remove their values even
  /// so. Since the removal can be refused, its outcome is not to be ignored.
  ///
  /// A store keeps its latest eight predicates, with the objects that they capture, until all
  /// values are removed: a get that began before more than eight removals does not store its
  /// answer, which costs a later miss.
  ///
  /// - Parameter isRemoved: Called without any lock, from any thread, also after this returns, and
  ///   more than once for a key; its results for a key should not change. A key for which it throws
  ///   stays, and the outcome fails with the first error when the other keys have been removed.
  /// - Returns: The outcome; disposing of it cancels nothing.
  /// - Complexity: O(*n*) in the keys of each layer; a disk reads every key.
  public func removeAll(
    where isRemoved: @escaping @Sendable (Key) throws -> Bool
  ) -> Signal<Void> {
    let predicate = KeyPredicate(isRemoved)
    return predicate.outcome(of: apply(.removeMatching(predicate, .next())))
  }
}

extension Cache where Key == String {
  /// Removes the values of all keys that begin with `prefix`, at once.
  ///
  /// The same as ``removeAll(where:)``, for keys whose first characters are equal to the prefix, in
  /// whatever form their accents are, or whose first bytes in UTF-8 are those of the prefix. An
  /// empty prefix removes all values.
  ///
  /// - Parameter prefix: The beginning of the keys.
  /// - Returns: The outcome; disposing of it cancels nothing.
  public func removeAll(withPrefix prefix: String) -> Signal<Void> {
    // By bytes too, since a prefix may end within a character of a key.
    removeAll { $0.utf8.starts(with: prefix.utf8) || $0.hasPrefix(prefix) }
  }
}
