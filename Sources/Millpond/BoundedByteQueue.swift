import Dispatch
import MillpondSignals

/// A serial queue that blocks its senders while too many bytes wait on it.
///
/// Only a sender of bytes waits, and never inside the queue's own work, which it would wait for. So
/// an end, a disposal or a removal waits for nothing, wherever it comes from.
struct BoundedByteQueue: Sendable {
  private static let current = DispatchSpecificKey<ObjectIdentifier>()

  private let queue: SerialQueue
  private let limit: Int
  private let waiting = Locked(0)

  init(_ label: String, qos: DispatchQoS = .unspecified, limit: Int) {
    queue = SerialQueue(label: label, qos: qos, autoreleaseFrequency: .workItem)
    self.limit = limit
    queue.setSpecific(key: Self.current, value: ObjectIdentifier(queue))
  }

  /// Enqueues `work`.
  func add(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

  /// Enqueues `work` with `byteCount` bytes; beyond the limit, waits until all work so far is done.
  @inline(never)
  func add(_ byteCount: Int, _ work: @escaping @Sendable () -> Void) {
    let isTooMuch = waiting.withLock { waiting in
      waiting += byteCount
      return waiting > limit
    }
    queue.async {
      work()
      waiting.withLock { $0 -= byteCount }
    }
    if isTooMuch, byteCount > 0, !isCurrent { queue.sync {} }
  }

  /// Whether the caller is work of this queue.
  private var isCurrent: Bool {
    SerialQueue.getSpecific(key: Self.current) == ObjectIdentifier(queue)
  }
}
