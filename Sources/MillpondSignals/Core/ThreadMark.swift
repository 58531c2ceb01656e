// The number of the current thread, for `threadMark()` alone: a pointer on some platforms.
#if canImport(Darwin)
  import Darwin

  func readThreadMark() -> UInt { UInt(bitPattern: pthread_self()) }
#elseif canImport(Glibc)
  import Glibc

  func readThreadMark() -> UInt { UInt(pthread_self()) }
#elseif canImport(Musl)
  import Musl

  func readThreadMark() -> UInt { UInt(bitPattern: pthread_self()) }
#endif
