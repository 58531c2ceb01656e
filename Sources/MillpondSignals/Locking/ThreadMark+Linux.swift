#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

#if canImport(Glibc)
  /// What tells threads apart: even, and never zero.
  @usableFromInline
  package func threadMark() -> UInt {
    UInt(pthread_self())
  }
#elseif canImport(Musl)
  /// What tells threads apart: even, and never zero.
  @usableFromInline
  package func threadMark() -> UInt {
    UInt(bitPattern: pthread_self())
  }
#endif

#if canImport(Glibc) || canImport(Musl)
  /// Lets others run.
  @usableFromInline
  package func yieldThread() {
    sched_yield()
  }
#endif
