extension Observer {
  /// Returns an observer of other values that forwards all other events to this one.
  ///
  /// - Parameter next: Receives the values.
  @inlinable
  public func replacingNext<NewValue>(
    _ next: @escaping @Sendable (NewValue) -> Void
  ) -> Observer<NewValue> {
    Observer<NewValue>(next: next, other: onOther)
  }

  /// Returns an observer that forwards values to this one.
  ///
  /// - Parameter other: Receives progress and the end.
  @inlinable
  public func replacingOther(
    _ other: @escaping @Sendable (Event<Never>) -> Void
  ) -> Observer {
    Observer(next: onNext, other: other)
  }
}
