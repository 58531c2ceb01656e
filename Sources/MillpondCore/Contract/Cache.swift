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
  ///
  /// - Returns: The outcome, which may be ignored; disposing of it cancels nothing.
  @inlinable
  @discardableResult
  public func set(_ value: Value, for key: Key) -> Signal<Void> {
    apply(.set(key, value, .next()))
  }

  /// Stores `value` for `key`, at once, with a time to live of its own.
  ///
  ///     cache.set(ticket, for: id, timeToLive: .after(.seconds(60)))
  ///     cache.set(price, for: id, timeToLive: .until(closing))
  ///     cache.set(logo, for: id, timeToLive: .never)
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
  /// removed. The value is looked up as by a get with ``Freshness/cachedOnly``, and a write that
  /// comes meanwhile wins.
  ///
  /// - Parameters:
  ///   - timeToLive: The time to live from now on; never for none of its own.
  ///   - key: The key.
  /// - Returns: The outcome, which may be ignored; disposing of it cancels nothing. It sends a value
  ///   when the change is stored, and completes empty if there is no stored value, or a write of the
  ///   key came meanwhile.
  @discardableResult
  public func setTimeToLive(_ timeToLive: TimeToLive, for key: Key) -> Signal<Void> {
    if timeToLive.isOverAtOnce { return remove(key) }
    // Taken before the value is looked up, so that later writes win.
    let token = FillToken()
    return getStamped(key, Lookup(freshness: .cachedOnly)).take(1)
      .flatMap { apply(.fill(key, $0.with(timeToLive), token)) }.started()
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
}
