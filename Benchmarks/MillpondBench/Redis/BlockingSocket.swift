import Dispatch
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A socket that blocks, as the simplest client has it.
///
/// Sendable because one thread at a time uses it.
final class BlockingSocket: @unchecked Sendable {
  private let descriptor: Int32
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  init(port: UInt16) throws {
    descriptor = socket(AF_INET, Self.streamType, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeBytes(of: &address) { bytes -> Int32 in
      guard let start = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress else { return -1 }
      return connect(descriptor, start, size)
    }
    guard result == 0 else { throw FileTrouble(path: "127.0.0.1:\(port)") }
    var on: Int32 = 1
    _ = setsockopt(
      descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
  }

  deinit { close(descriptor) }

  /// Gets a value; returns the number of bytes of the answer.
  func get(_ key: String) -> Int {
    ask(key)
    return receive()
  }

  func ask(_ key: String) {
    let command = Array("*2\r\n$3\r\nGET\r\n$\(key.utf8.count)\r\n\(key)\r\n".utf8)
    _ = command.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, 0) }
  }

  /// Returns the number of bytes of the next answer, of at least 1,000; zero at the end.
  func receive() -> Int {
    var (count, last) = (0, 0)
    repeat {
      last = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
      if last <= 0 { return 0 }
      count += last
    } while count < 1_000 || buffer[last - 1] != UInt8(ascii: "\n")
    return count
  }

  /// Ends the connection, so that a thread that reads goes on.
  func end() { _ = shutdown(descriptor, bothWays) }

  #if canImport(Glibc)
    private static var streamType: Int32 { Int32(SOCK_STREAM.rawValue) }
    private var bothWays: Int32 { Int32(SHUT_RDWR) }
  #else
    private static var streamType: Int32 { SOCK_STREAM }
    private var bothWays: Int32 { SHUT_RDWR }
  #endif
}

/// A socket whose answers one thread reads and hands over to another: the simplest client that
/// keeps its callers' threads free.
///
/// Sendable because the semaphore separates the uses of the socket and of the number.
final class HandingSocket: @unchecked Sendable {
  private let socket: BlockingSocket
  private let answers = DispatchSemaphore(value: 0)
  private var count = 0

  init(port: UInt16) throws {
    socket = try BlockingSocket(port: port)
    Thread { [self] in
      repeat {
        count = socket.receive()
        answers.signal()
      } while count > 0
    }.start()
  }

  func get(_ key: String) -> Int {
    socket.ask(key)
    answers.wait()
    return count
  }

  func end() { socket.end() }
}
