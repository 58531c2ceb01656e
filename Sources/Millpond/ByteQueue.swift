import Dispatch
import MillpondSignals

/// A serial queue that holds its senders up when more bytes wait on it than it may have.
struct ByteQueue: Sendable {
  private let queue: DispatchQueue
  private let limit: Int
  private let waiting = Locked(0)

  init(_ label: String, qos: DispatchQoS = .unspecified, limit: Int) {
    queue = DispatchQueue(label: label, qos: qos, autoreleaseFrequency: .workItem)
    self.limit = limit
  }

  /// Runs `work`, which has so many bytes; if that is too much, waits until all before is done too.
  func add(_ byteCount: Int = 0, _ work: @escaping @Sendable () -> Void) {
    let isTooMuch = waiting.withLock { waiting in
      waiting += byteCount
      return waiting > limit
    }
    queue.async {
      work()
      waiting.withLock { $0 -= byteCount }
    }
    if isTooMuch { queue.sync {} }
  }
}
