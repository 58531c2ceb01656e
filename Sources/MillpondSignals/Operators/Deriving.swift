extension Signal {
  /// A signal that is made of this one, and whose emptiness still means what it means here: from a
  /// cache, a miss.
  ///
  /// What an operator of one signal returns, unless it makes an emptiness of its own.
  @inlinable
  func derived<NewValue>(
    now: (@Sendable () -> NewValue?)? = nil, _ start: @escaping Signal<NewValue>.Start
  ) -> Signal<NewValue> {
    Signal<NewValue>(start: start, now: now, emptyError: emptyError)
  }
}
