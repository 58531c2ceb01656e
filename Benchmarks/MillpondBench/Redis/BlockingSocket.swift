import Foundation
import MillpondSockets

/// A socket that blocks, as the simplest client has it.
///
/// Sendable because one thread at a time uses it.
final class BlockingSocket: @unchecked Sendable {
  private let descriptor: Int32
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  init(port: UInt16) throws {
    let address = SocketAddress.loopback(port: port)
    descriptor = try SocketCalls.open(family: address.family)
    SocketCalls.sendSmallPiecesAtOnce(descriptor)
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
    try SocketCalls.connect(descriptor, to: address)
  }

  deinit { SocketCalls.close(descriptor) }

  /// Gets a value of at least 1,000 bytes; returns the number of bytes of the answer.
  func get(_ key: String) -> Int {
    let command = Array("*2\r\n$3\r\nGET\r\n$\(key.utf8.count)\r\n\(key)\r\n".utf8)
    _ = command.withUnsafeBytes { SocketCalls.send(descriptor, $0) }
    var (count, last) = (0, 0)
    repeat {
      let result = buffer.withUnsafeMutableBytes { SocketCalls.receive(descriptor, into: $0) }
      guard case .moved(let moved) = result, moved > 0 else { return 0 }
      count += moved
      last = moved
    } while count < 1_000 || buffer[last - 1] != UInt8(ascii: "\n")
    return count
  }
}
