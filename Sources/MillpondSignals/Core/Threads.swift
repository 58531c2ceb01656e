import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Returns a number that identifies the current thread: even, and never zero.
///
/// The C libraries declare `pthread_self` to be constant, as it is for a thread. In a user's async
/// function the compiler would therefore read it once, and use that number after an `await` as
/// well, when the function goes on on another thread. So this is the only place that reads it, is
/// never inlined, and has an effect that the compiler knows nothing about: each call is made.
@inline(never)
@usableFromInline
package func threadMark() -> UInt {
  _ = effect.load(ordering: .acquiring)
  return readThreadMark()
}

private let effect = Atomic<UInt8>(0)

#if !MILLPOND_SCHEDULES
  /// Yields the processor to other threads.
  @usableFromInline
  package func yieldThread() { sched_yield() }
#endif
