#if canImport(Darwin)
  import Darwin

  func readStackBounds() -> StackBounds {
    let highest = UInt(bitPattern: pthread_get_stackaddr_np(pthread_self()))
    let size = UInt(pthread_get_stacksize_np(pthread_self()))
    return StackBounds(lowest: highest - size, size: size)
  }
#endif
