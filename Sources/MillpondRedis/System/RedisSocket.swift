/// A non-blocking socket, which is closed when the last thread that uses it has released it.
///
/// So its number can't be assigned again while a thread sends.
final class RedisSocket: Sendable {
  let descriptor: Int32

  /// Opens a socket and begins to connect it.
  init(connectingTo address: SocketAddress) throws(RedisError) {
    descriptor = try SystemCalls.open(family: address.family)
    SystemCalls.sendSmallPiecesAtOnce(descriptor)
    try SystemCalls.connect(descriptor, to: address.bytes)
  }

  deinit { SystemCalls.close(descriptor) }

  /// Ends both directions, so that reads and writes of other threads end.
  func shutDown() { SystemCalls.endBothWays(descriptor) }

  /// Sends as much as there is room for.
  ///
  /// - Returns: The bytes that are left, and whether there is no room; a failure shuts down.
  func send(_ bytes: [UInt8]) -> (rest: ArraySlice<UInt8>, isBlocked: Bool) {
    var rest = bytes[...]
    while !rest.isEmpty {
      switch rest.withUnsafeBytes({ SystemCalls.send(descriptor, $0) }) {
      case .moved(let count): rest = rest.dropFirst(count)
      case .wouldBlock: return (rest, true)
      case .failed:
        shutDown()
        return ([], false)
      }
    }
    return ([], false)
  }
}
