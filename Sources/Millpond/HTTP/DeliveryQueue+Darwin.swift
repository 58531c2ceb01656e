#if !canImport(FoundationNetworking)
  import Foundation

  extension OperationQueue {
    /// Where a session is to call its delegate: on a queue that it makes for itself.
    static func forSession() -> OperationQueue? { nil }
  }
#endif
