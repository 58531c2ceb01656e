#if !canImport(FoundationNetworking)
  import Foundation

  extension URLSessionTransport {
    /// Backpressure: the session waits until its delegate has taken the bytes.
    static var appliesBackpressure: Bool { true }

    /// The bytes of a transfer that may wait for a slow subscriber before the session waits.
    static var waitingLimit: Int { 4 << 20 }
  }

  extension HTTPRequest {
    /// False: the session repeats only what is idempotent.
    var needsOwnConnection: Bool { false }
  }

  extension URLSession {
    /// Returns a task for a request; the session finds out the length of its body, and fails if
    /// that changes.
    func task(
      for request: HTTPRequest, bodyLength: Int?, endsEarly: @escaping @Sendable () -> Void
    ) -> URLSessionTask {
      guard case .file(let url)? = request.body?.content else {
        return dataTask(with: URLRequest(request))
      }
      return uploadTask(with: URLRequest(request), fromFile: url)
    }
  }

  extension OperationQueue {
    /// The queue on which a session calls its delegate.
    static func forSession() -> OperationQueue? { nil }
  }

  /// Returns an error, which prints its description.
  func readableError(_ code: URLError.Code, _ info: [String: Any]) -> URLError {
    URLError(code, userInfo: info)
  }

  /// Returns the error, which is a `URLError`.
  func sessionError(_ error: any Error, hasHead: Bool) -> any Error { error }
#endif
