#if !canImport(FoundationNetworking)
  import Foundation

  /// The queue on which a session is to call its delegate: the session's own.
  func delegateQueue() -> OperationQueue? {
    nil
  }
#endif
