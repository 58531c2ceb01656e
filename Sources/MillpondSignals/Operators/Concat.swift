extension Signal {
  /// Goes on with `other` when this completes.
  ///
  /// Progress is that of the running one. A failure ends everything, and what follows isn't started.
  ///
  /// - Complexity: Constant stack, however many are concatenated.
  @inlinable
  public func concat(_ other: Signal) -> Signal {
    var parts = parts ?? Chain(nil, self)
    for part in other.parts?.elements ?? [other] { parts = Chain(parts, part) }
    return Signal(
      start: { [parts] observer, lifetime in
        Signal<Signal>.from(parts.elements).flatMap(.concat) { $0 }.run(observer, lifetime)
      }, now: nil, emptyError: emptyError ?? other.emptyError, parts: parts)
  }
}
