import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The functions of the C library that the store needs beside its calls on files.
enum CLibrary {
  /// Returns the failure of the last call.
  ///
  /// - Parameter path: The path of the call.
  @inline(never)
  static func failure(_ path: String) -> POSIXError {
    failure(POSIXErrorCode(rawValue: errno) ?? .EIO, path)
  }

  @inline(never)
  static func failure(_ code: POSIXErrorCode, _ path: String) -> POSIXError {
    POSIXError(code, userInfo: [NSFilePathErrorKey: path])
  }

  /// The code of a failure of the system; nil for another error.
  @inline(never)
  static func code(_ error: any Error) -> POSIXErrorCode? {
    (error as? POSIXError)?.code
  }

  static func wallTime() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    let (product, overflow) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000)
    let (sum, sumOverflow) = product.addingReportingOverflow(Int64(time.tv_nsec) / 1_000)
    return overflow || sumOverflow ? .max : sum
  }

  /// Whether a process other than this one has a number; true if that is not known.
  static func isRunningOther(_ process: Int32) -> Bool {
    process != getpid() && (kill(process, 0) == 0 || errno != ESRCH)
  }

  @inline(never)
  static func allocate(_ count: Int) throws -> UnsafeMutableRawBufferPointer {
    guard let start = malloc(max(1, count)) else { throw failure(.ENOMEM, "") }
    return UnsafeMutableRawBufferPointer(start: start, count: count)
  }

  static func free(_ bytes: UnsafeRawBufferPointer) {
    systemFree(UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }

  static func areEqual(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Bool {
    guard first.count == second.count else { return false }
    guard let start = first.baseAddress, let other = second.baseAddress else { return true }
    return memcmp(start, other, first.count) == 0
  }

  /// Returns the position of the first such byte.
  static func find(_ byte: UInt8, in bytes: UnsafeRawBufferPointer) -> Int? {
    guard let start = bytes.baseAddress, let place = memchr(start, Int32(byte), bytes.count) else {
      return nil
    }
    return UnsafeRawPointer(place) - start
  }

  /// Returns the canonical path of a folder.
  static func resolve(_ path: String) throws -> String {
    guard let resolved = realpath(path, nil) else { throw failure(path) }
    defer { systemFree(resolved) }
    return String(cString: resolved)
  }
}

private func systemFree(_ start: UnsafeMutableRawPointer?) { free(start) }
