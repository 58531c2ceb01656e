#if !canImport(FoundationNetworking)
  import Foundation

  /// The queue on which a session is to call its delegate: the session's own.
  func delegateQueue(with commands: CommandQueue) -> OperationQueue? {
    nil
  }
#endif
