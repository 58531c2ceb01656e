#if canImport(Glibc)
  public import Glibc
#elseif canImport(Musl)
  public import Musl
#endif

#if canImport(Glibc) || canImport(Musl)
  @usableFromInline
  package typealias NativeLock = pthread_mutex_t

  @inlinable
  package func idleNative() -> NativeLock {
    pthread_mutex_t()
  }

  /// What `PTHREAD_MUTEX_INITIALIZER` says, which can't be imported: zeros, in both C libraries.
  @inlinable
  package func openNative(_ lock: UnsafeMutablePointer<NativeLock>) {
    lock.initialize(to: pthread_mutex_t())
  }

  @inlinable
  package func closeNative(_ lock: UnsafeMutablePointer<NativeLock>) {
    pthread_mutex_destroy(lock)
  }

  @inlinable
  package func lockNative(_ lock: UnsafeMutablePointer<NativeLock>) {
    pthread_mutex_lock(lock)
  }

  @inlinable
  package func unlockNative(_ lock: UnsafeMutablePointer<NativeLock>) {
    pthread_mutex_unlock(lock)
  }
#endif
