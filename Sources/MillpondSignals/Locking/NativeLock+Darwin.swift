#if canImport(Darwin)
  public import Darwin

  @usableFromInline
  package typealias NativeLock = os_unfair_lock_s

  @inlinable
  package func idleNative() -> NativeLock {
    os_unfair_lock_s()
  }

  @inlinable
  package func openNative(_ lock: UnsafeMutablePointer<NativeLock>) {
    lock.initialize(to: os_unfair_lock_s())
  }

  @inlinable
  package func closeNative(_ lock: UnsafeMutablePointer<NativeLock>) {
    lock.deinitialize(count: 1)
  }

  @inlinable
  package func lockNative(_ lock: UnsafeMutablePointer<NativeLock>) {
    os_unfair_lock_lock(lock)
  }

  @inlinable
  package func unlockNative(_ lock: UnsafeMutablePointer<NativeLock>) {
    os_unfair_lock_unlock(lock)
  }
#endif
