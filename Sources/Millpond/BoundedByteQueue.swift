import Dispatch
import MillpondSignals

/// A serial queue that blocks its senders while too many bytes wait on it.
struct BoundedByteQueue: Sendable {
  private let queue: DispatchQueue
  private let limit: Int
  private let waiting = Locked(0)

  init(_ label: String, qos: DispatchQoS = .unspecified, limit: Int) {
    queue = DispatchQueue(label: label, qos: qos, autoreleaseFrequency: .workItem)
    self.limit = limit
  }

  /// Enqueues `work` with `byteCount` bytes; beyond the limit, waits until all work so far is done.
  @inline(never)
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
