extension Observer {
  /// Returns whether the stack can hold an inner subscription during a delivery; if not, fails the
  /// observer.
  @inlinable
  func canSubscribeInner(_ lifetime: Lifetime) -> Bool {
    lifetime.hasRoomToDeliver || refuse(lifetime)
  }
}

extension Lifetime {
  /// Whether enough stack is left to deliver through all levels down to the subscriber.
  ///
  /// Never inlined, as ``hasRoomToSubscribe``.
  @usableFromInline
  @inline(never)
  var hasRoomToDeliver: Bool {
    guard let bounds = threadStack()?.pointee.bounds else { return true }
    return bounds.delivers(through: core.depth, from: stackAddress())
  }
}

extension StackBounds {
  /// Returns whether enough stack is left below `address` to deliver through `depth` levels.
  func delivers(through depth: UInt32, from address: UInt) -> Bool {
    address >= lowest(for: depth) || isElsewhere(address)
  }
}

extension Error {
  /// Whether another attempt, or a replacement, would be nested too deeply again.
  package var isNestedTooDeeply: Bool {
    if case .nestedTooDeeply? = self as? SignalError { true } else { false }
  }
}

extension Event where Value == Never {
  @usableFromInline
  package var isNestedTooDeeply: Bool {
    if case .failed(let error) = self { error.isNestedTooDeeply } else { false }
  }
}
