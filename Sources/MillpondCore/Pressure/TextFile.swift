#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A short file of the kernel's, which is made up when it is read.
enum TextFile {
  /// The value of `errno`, in words.
  struct Failure: Error, CustomStringConvertible {
    let code: Int32

    var description: String { String(cString: strerror(code)) }
  }

  /// As much as is read of a file; what we look for is shorter.
  static let limit = 16_384

  /// The start of a file, with whatever isn't UTF-8 replaced.
  static func read(_ path: String) throws(Failure) -> String {
    // Not to wait for anybody, should it be no file but a pipe.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw Failure(code: errno) }
    defer { _ = close(descriptor) }
    return String(decoding: try bytes(descriptor), as: UTF8.self)
  }

  private static func bytes(_ descriptor: Int32) throws(Failure) -> ArraySlice<UInt8> {
    var bytes = [UInt8](repeating: 0, count: limit)
    var count = 0
    while count < limit {
      let read = bytes.withUnsafeMutableBytes { [count] in
        systemRead(descriptor, $0.baseAddress.map { $0 + count }, limit - count)
      }
      if read == 0 { break }
      if read > 0 { count += read } else if errno != EINTR { throw Failure(code: errno) }
    }
    return bytes[..<count]
  }
}

private func systemRead(_ descriptor: Int32, _ start: UnsafeMutableRawPointer?, _ count: Int) -> Int
{
  read(descriptor, start, count)
}
