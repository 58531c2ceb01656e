import Dispatch

/// A few threads of our own, where calls may block; what concerns one key is done in order.
struct Lanes: Sendable {
  private let queues: [DispatchQueue]

  init(_ label: String, count: Int) {
    queues = (0..<count).map {
      DispatchQueue(label: "\(label) \($0)", autoreleaseFrequency: .workItem)
    }
  }

  /// Runs `work` after all that was to be done before in the key's lane.
  func run(_ key: KeyHash, _ work: @escaping @Sendable () -> Void) {
    queues[Int(key.value % UInt64(queues.count))].async(execute: work)
  }
}
