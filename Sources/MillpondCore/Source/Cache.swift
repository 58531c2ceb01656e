public import MillpondSignals

/// What can be asked and told: ``Source/apply(_:)`` stores.
///
/// Whoever writes a cache implements ``Source/get(_:_:)`` and ``Source/apply(_:)``, or gives
/// closures to ``AnyCache``.
public protocol Cache<Key, Value>: Source {}

extension Cache {
  /// Keeps `value` for `key`, at once: gets that are asked after this has returned see it, and what
  /// was asked before does not overwrite it.
  ///
  /// - Returns: The outcome, which may be ignored; disposing of it cancels nothing.
  @inlinable
  @discardableResult
  public func set(_ value: Value, for key: Key) -> Signal<Void> {
    apply(.set(key, value, .next()))
  }

  /// Keeps nothing for `key` any more.
  ///
  /// Removing what is absent succeeds.
  ///
  /// - Returns: The outcome, which may be ignored; disposing of it cancels nothing.
  @inlinable
  @discardableResult
  public func remove(_ key: Key) -> Signal<Void> {
    apply(.remove(key, .next()))
  }

  /// Keeps nothing any more.
  ///
  /// - Returns: The outcome, which may be ignored; disposing of it cancels nothing.
  @inlinable
  @discardableResult
  public func removeAll() -> Signal<Void> {
    apply(.removeAll(.next()))
  }
}
