#if canImport(Darwin)
  import Darwin

  /// Returns the number of the current thread, for ``threadMark()`` alone.
  func readThreadMark() -> UInt { UInt(bitPattern: pthread_self()) }

  func readStackBounds() -> StackBounds {
    let highest = UInt(bitPattern: pthread_get_stackaddr_np(pthread_self()))
    let size = UInt(pthread_get_stacksize_np(pthread_self()))
    return StackBounds(lowest: highest - size, size: size)
  }
#endif
