#if canImport(Darwin)
  import Darwin

  /// What tells threads apart: even, and never zero.
  @usableFromInline
  package func threadMark() -> UInt {
    UInt(bitPattern: pthread_self())
  }

  /// Lets others run.
  @usableFromInline
  package func yieldThread() {
    sched_yield()
  }
#endif
