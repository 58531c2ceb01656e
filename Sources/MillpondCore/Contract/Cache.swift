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
