// The calls of Apple's C library that differ from those of Glibc, which stands in for the rest.
//
// Signatures: the manual pages of macOS 15 and the headers named beside them, as Swift imports them.
@_exported import Glibc

// pthread.h: a thread is a pointer there.
public struct _opaque_pthread_t {}
public typealias pthread_t = UnsafeMutablePointer<_opaque_pthread_t>
public func pthread_self() -> pthread_t { fatalError() }
public func pthread_create(
  _ thread: UnsafeMutablePointer<pthread_t?>, _ attributes: UnsafePointer<pthread_attr_t>?,
  _ start: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?,
  _ argument: UnsafeMutableRawPointer?
) -> Int32 { fatalError() }
@discardableResult public func pthread_detach(_ thread: pthread_t) -> Int32 { fatalError() }
public func pthread_get_stackaddr_np(_ thread: pthread_t) -> UnsafeMutableRawPointer {
  fatalError()
}
public func pthread_get_stacksize_np(_ thread: pthread_t) -> Int { fatalError() }
public typealias pthread_key_t = UInt
public func pthread_key_create(
  _ key: UnsafeMutablePointer<pthread_key_t>,
  _ destructor: (@convention(c) (UnsafeMutableRawPointer) -> Void)?
) -> Int32 { fatalError() }
public func pthread_getspecific(_ key: pthread_key_t) -> UnsafeMutableRawPointer? { fatalError() }
@discardableResult
public func pthread_setspecific(_ key: pthread_key_t, _ value: UnsafeRawPointer?) -> Int32 {
  fatalError()
}
@discardableResult
public func pthread_cond_timedwait_relative_np(
  _ condition: UnsafeMutablePointer<pthread_cond_t>,
  _ mutex: UnsafeMutablePointer<pthread_mutex_t>, _ span: UnsafePointer<timespec>?
) -> Int32 { fatalError() }

// time.h
public var CLOCK_MONOTONIC_RAW_APPROX: clockid_t { 5 }
public var CLOCK_MONOTONIC_RAW: clockid_t { 4 }
public var CLOCK_MONOTONIC: clockid_t { 6 }
public var CLOCK_UPTIME_RAW: clockid_t { 8 }
public func clock_gettime_nsec_np(_ clock: clockid_t) -> UInt64 { fatalError() }

// sys/sysctl.h
public func sysctlbyname(
  _ name: UnsafePointer<CChar>?, _ old: UnsafeMutableRawPointer?,
  _ oldSize: UnsafeMutablePointer<Int>?, _ new: UnsafeMutableRawPointer?, _ newSize: Int
) -> Int32 { fatalError() }

// sys/fcntl.h
public var F_FULLFSYNC: Int32 { 51 }
public var F_NOCACHE: Int32 { 48 }

// sys/socket.h: plain numbers there, and enumerations in Glibc.
public var SOCK_STREAM: Int32 { 1 }
public var SHUT_RDWR: Int32 { 2 }
public var SHUT_WR: Int32 { 1 }
public var SO_NOSIGPIPE: Int32 { 0x1022 }

// malloc/malloc.h
public struct malloc_zone_t {}
public struct malloc_statistics_t {
  public var blocks_in_use: UInt32 = 0
  public var size_in_use = 0
  public var max_size_in_use = 0
  public var size_allocated = 0
  public init() {}
}
public func malloc_zone_statistics(
  _ zone: UnsafeMutablePointer<malloc_zone_t>?,
  _ statistics: UnsafeMutablePointer<malloc_statistics_t>
) { fatalError() }
