import Dispatch

/// A few queues on which calls may block; the work of one key is done in order.
struct ReadQueues: Sendable {
  private let queues: [DispatchQueue]

  init(_ label: String, count: Int) {
    queues = (0..<count).map {
      DispatchQueue(label: "\(label) \($0)", autoreleaseFrequency: .workItem)
    }
  }

  /// Runs `work` after all earlier work of the key.
  func run(_ key: KeyHash, _ work: @escaping @Sendable () -> Void) {
    queues[Int(key.value % UInt64(queues.count))].async(execute: work)
  }
}
