#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A socket to an origin, byte by byte.
///
/// Gives up on a silent origin after ten seconds.
package final class Client {
  package struct Refused: Error {}

  /// The way in which the origin closed.
  package enum End {
    case orderly
    case reset
  }

  package struct Reply: Equatable {
    package var status: Int
    package var headers: [String]
    package var body: String
  }

  private let descriptor = socket(AF_INET, streamType, 0)
  private var isOpen = true

  package init(port: UInt16) throws {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    let failed = withUnsafeBytes(of: &address) {
      connect(
        descriptor, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t($0.count))
    }
    silenceSignal(descriptor)
    var timeLimit = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeLimit, socklen_t(MemoryLayout<timeval>.size))
    guard failed == 0 else { throw Refused() }
  }

  deinit { hangUp() }

  package func hangUp() {
    guard isOpen else { return }
    isOpen = false
    close(descriptor)
  }

  package func write(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let sent = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, withoutSignal) }
      guard sent > 0 else { return }
      rest = rest.dropFirst(sent)
    }
  }

  package func get(_ path: String) { write("GET \(path) HTTP/1.1\r\nHost: loopback\r\n\r\n") }

  /// Reads exactly `count` bytes, or fewer if the origin closes.
  package func read(_ count: Int) -> String {
    var bytes: [UInt8] = []
    while bytes.count < count, let byte = readByte() { bytes.append(byte) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns the lines up to the blank one.
  package func readHead() -> [String] {
    var head = ""
    while !head.hasSuffix("\r\n\r\n") {
      let next = read(1)
      if next.isEmpty { break }
      head.unicodeScalars.append(contentsOf: next.unicodeScalars)
    }
    return head.split(separator: "\r\n").map(String.init)
  }

  /// Returns a whole response by its Content-Length; `toHead` when it answers HEAD.
  package func readReply(toHead: Bool = false) -> Reply {
    let head = readHead()
    let status = head.first.map { $0.split(separator: " ") }.flatMap { Int($0[1]) }
    let length = head.compactMap { line in
      line.hasPrefix("Content-Length: ") ? Int(line.dropFirst(16)) : nil
    }.first
    return Reply(
      status: status ?? 0, headers: Array(head.dropFirst()),
      body: toHead ? "" : read(length ?? 0))
  }

  /// Reads to the end, and returns the text and the end; the end is nil if it did not come in time.
  package func readToEnd() -> (text: String, end: End?) {
    var bytes: [UInt8] = []
    while let byte = readByte() { bytes.append(byte) }
    return (String(decoding: bytes, as: UTF8.self), end)
  }

  private var end: End?

  private var received: ArraySlice<UInt8> = []

  private func readByte() -> UInt8? {
    if received.isEmpty { receive() }
    return received.popFirst()
  }

  private func receive() {
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    var count = 0
    // A process that is stopped and continued is interrupted.
    repeat {
      count = recv(descriptor, &buffer, buffer.count, 0)
    } while count < 0 && errno == EINTR
    if count == 0 { end = .orderly }
    if count < 0 && errno == ECONNRESET { end = .reset }
    received = buffer.prefix(max(count, 0))
  }
}

/// Returns the number of sockets and pipes that this process has open.
///
/// Not every descriptor: Dispatch opens timers and queues of its own at any time.
package func openSocketAndPipeCount() -> Int {
  (0..<4_096).count { descriptor in
    var status = stat()
    guard fstat(Int32(descriptor), &status) == 0 else { return false }
    let kind = status.st_mode & S_IFMT
    return kind == S_IFSOCK || kind == S_IFIFO
  }
}

#if canImport(Glibc)
  private let streamType = Int32(SOCK_STREAM.rawValue)
#else
  private let streamType = SOCK_STREAM
#endif

// Darwin has the socket option below instead of the flag.
#if canImport(Darwin)
  private let withoutSignal: Int32 = 0

  private func silenceSignal(_ descriptor: Int32) {
    var on: Int32 = 1
    let size = socklen_t(MemoryLayout<Int32>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, size)
  }
#else
  private let withoutSignal = Int32(MSG_NOSIGNAL)

  private func silenceSignal(_ descriptor: Int32) {}
#endif
