#if !canImport(FoundationNetworking)
  import Foundation

  extension URLSessionTransport {
    /// True: the session waits until its delegate has taken what came.
    public var appliesBackpressure: Bool { true }

    /// How many bytes of a transfer may wait for a slow subscriber before the session waits.
    static var waitingLimit: Int { 4 << 20 }
  }

  extension OperationQueue {
    /// Where a session is to call its delegate: on a queue that it makes for itself.
    static func forSession() -> OperationQueue? { nil }
  }

  /// What a session's error says: a `URLError`, as it is.
  func sessionError(_ error: any Error, hasHead: Bool) -> any Error {
    error
  }
#endif
