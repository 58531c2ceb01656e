#if canImport(Darwin)
  import Darwin

  /// Returns a number that identifies the current thread: even, and never zero.
  @usableFromInline
  package func threadMark() -> UInt {
    UInt(bitPattern: pthread_self())
  }

  func readStackBounds() -> StackBounds {
    let highest = UInt(bitPattern: pthread_get_stackaddr_np(pthread_self()))
    let size = UInt(pthread_get_stacksize_np(pthread_self()))
    return StackBounds(lowest: highest - size, size: size)
  }
#endif
