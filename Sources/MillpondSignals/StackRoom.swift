extension Observer {
  /// Whether the stack can hold one more subscription; if not, the observer is told.
  ///
  /// Operators without lifetimes of their own are not counted as levels; they deliver on no more
  /// stack than they subscribe on. So subscribing may use half of the stack.
  @inlinable
  func canSubscribe(_ lifetime: Lifetime) -> Bool {
    lifetime.hasRoomToSubscribe || refuse(lifetime)
  }

  /// Whether the stack can hold an inner subscription in the midst of a delivery; likewise.
  @inlinable
  func canSubscribeInner(_ lifetime: Lifetime) -> Bool {
    lifetime.hasRoomToDeliver || refuse(lifetime)
  }

  @usableFromInline
  func refuse(_ lifetime: Lifetime) -> Bool {
    if !lifetime.isEnded { failed(SignalError.nestedTooDeeply) }
    return false
  }
}

extension Lifetime {
  /// Whether half of the stack is left, and enough to deliver through all levels.
  @usableFromInline
  var hasRoomToSubscribe: Bool {
    guard let bounds = threadStack()?.pointee.bounds else { return true }
    return bounds.subscribes(through: core.depth, from: stackAddress())
  }

  /// Whether enough of the stack is left to deliver through all levels down to the subscriber.
  @usableFromInline
  var hasRoomToDeliver: Bool {
    guard let bounds = threadStack()?.pointee.bounds else { return true }
    return bounds.delivers(through: core.depth, from: stackAddress())
  }
}

/// An address in the frame of the caller, or next to it.
private func stackAddress() -> UInt {
  var mark: UInt8 = 0
  return withUnsafeMutablePointer(to: &mark) { UInt(bitPattern: $0) }
}
