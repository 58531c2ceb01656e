#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Pipes that end a wait, and the wait for several descriptors.
extension SocketCalls {
  /// Opens a pipe whose ends block no thread.
  package static func openPipe() throws(SocketError) -> (readEnd: Int32, writeEnd: Int32) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw SocketError(in: "pipe") }
    try configure(&ends)
    return (ends[0], ends[1])
  }

  package static func writeByte(_ descriptor: Int32) {
    var byte: UInt8 = 1
    _ = transfer { write(descriptor, &byte, 1) }
  }

  /// Reads what a pipe has, so that it is empty.
  package static func drain(_ descriptor: Int32) {
    withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { buffer in
      while case .moved(256) = transfer({ read(descriptor, buffer.baseAddress, buffer.count) }) {}
    }
  }

  /// A descriptor, and what is waited for and seen.
  package struct Watch {
    package let descriptor: Int32
    package var isReading = true
    package var isWriting = false

    /// Whether the other side's end is an event of its own, before all bytes are read.
    package var seesHangUp = false
    fileprivate var seen: Int32 = 0

    package init(descriptor: Int32, isReading: Bool = true, isWriting: Bool = false) {
      self.descriptor = descriptor
      (self.isReading, self.isWriting) = (isReading, isWriting)
    }

    /// Whether there are bytes, or an error or a hang-up, which shows in the read that follows.
    package var isReadable: Bool { seen & ~Int32(POLLOUT) != 0 }

    /// Whether there is room, or an error, which shows in the result of the connection.
    package var isWritable: Bool { seen & ~Int32(POLLIN) != 0 }

    var hasBytes: Bool { seen & Int32(POLLIN) != 0 }
    var hasRoom: Bool { seen & Int32(POLLOUT) != 0 }
    var isHungUp: Bool { seen & ~Int32(POLLIN | POLLOUT) != 0 }
  }

  /// Waits for one of the descriptors, at most so many nanoseconds; nil for no limit.
  ///
  /// `poll`, since a client has a handful of descriptors: epoll and kqueue are faster for hundreds
  /// only, and need a call whenever the interest in writing changes.
  package static func wait(for watches: inout [Watch], atMost nanoseconds: Int64?) {
    // Rounded up, because a wait that ends early would be followed by a spin.
    let milliseconds = nanoseconds.map { Int32(clamping: ($0 + 999_999) / 1_000_000) } ?? -1
    withUnsafeTemporaryAllocation(of: pollfd.self, capacity: watches.count) { entries in
      for (place, watch) in watches.enumerated() {
        let events =
          (watch.isReading ? POLLIN : 0) | (watch.isWriting ? POLLOUT : 0)
          | (watch.seesHangUp ? hangUpInterest : 0)
        entries.initializeElement(
          at: place, to: pollfd(fd: watch.descriptor, events: Int16(events), revents: 0))
      }
      let found = poll(entries.baseAddress, nfds_t(entries.count), milliseconds)
      for place in watches.indices {
        watches[place].seen = found > 0 ? Int32(entries[place].revents) : 0
      }
    }
  }
}
