#if canImport(FoundationNetworking)
  import Dispatch
  import Foundation

  /// Where a session calls its delegate, one call after the other: a queue of Dispatch, for what an
  /// `OperationQueue` does around each call takes longer than most of the calls
  /// (swift-corelibs-foundation 6.3.1: 13 % of the instructions of a small request).
  final class DeliveryQueue: OperationQueue, @unchecked Sendable {
    // Sendable because a Dispatch queue is all that it has.
    private let queue = DispatchQueue(label: "millpond.http.delivery", qos: .userInitiated)

    /// The only one that a session uses.
    override func addOperation(_ call: @escaping @Sendable () -> Void) {
      queue.async(execute: call)
    }
  }

  extension OperationQueue {
    /// Where a session is to call its delegate.
    static func forSession() -> OperationQueue? { DeliveryQueue() }
  }
#endif
