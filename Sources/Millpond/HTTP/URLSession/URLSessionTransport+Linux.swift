#if canImport(FoundationNetworking)
  import Dispatch
  import Foundation
  import FoundationNetworking

  extension URLSessionTransport {
    /// No backpressure: the session can't pause a transfer, and stores bytes that arrive faster than they are
    /// taken.
    ///
    /// Seen in swift-corelibs-foundation 6.3.1. This can change when the session can wait.
    static var appliesBackpressure: Bool { false }

    /// No limit: the session keeps in memory the bytes that it may not deliver.
    static var waitingLimit: Int { .max }
  }

  extension HTTPRequest {
    /// Whether the request must not use a connection that was used before.
    ///
    /// If such a connection is closed without an answer, the session sends the request again on
    /// another one, with an empty body, whatever its method (swift-corelibs-foundation 6.3.1).
    var needsOwnConnection: Bool { body != nil || !isIdempotent }
  }

  extension URLSession {
    /// Returns a task for a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - bodyLength: The length of its body.
    ///   - endsEarly: Called on the delegate's queue if the body is shorter than that.
    func task(
      for request: HTTPRequest, bodyLength: Int?, endsEarly: @escaping @Sendable () -> Void
    ) -> URLSessionTask {
      var plain = URLRequest(request)
      if case .file(let url)? = request.body?.content {
        // Not `uploadTask(with:fromFile:)`, which traps when it is cancelled while it reads
        // (swift-corelibs-foundation 6.3.1). The blank field keeps the body from being chunked, so
        // that it is sent with its length.
        plain.httpBodyStream = FileBodyStream(path: url.resolvedPath, length: bodyLength ?? 0) {
          [delegateQueue] in delegateQueue.addOperation(endsEarly)
        }
        plain.setValue("\(bodyLength ?? 0)", forHTTPHeaderField: "Content-Length")
        plain.setValue(" ", forHTTPHeaderField: "Transfer-Encoding")
      }
      return dataTask(with: plain)
    }
  }

  extension SessionTransfers {
    /// Ends an answer of 401 whose challenge the session understands.
    ///
    /// All of it has been delivered, but the session does not end the task, neither by default nor
    /// with a rejection (swift-corelibs-foundation 6.3.1).
    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler:
        @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      // A task that has been cancelled must not be cancelled again: that traps.
      if complete(task) { completionHandler(.cancelAuthenticationChallenge, nil) }
    }
  }

  /// A serial queue for the calls of a session's delegate, on Dispatch: the work that an
  /// `OperationQueue` does around each call takes longer than most of the calls
  /// (swift-corelibs-foundation 6.3.1: 13 % of the instructions of a small request).
  final class DeliveryQueue: OperationQueue, @unchecked Sendable {
    // Sendable because its only property is a Dispatch queue.
    private let queue = DispatchQueue(label: "millpond.http.delivery", qos: .userInitiated)

    /// Runs a call; a session uses no other method.
    override func addOperation(_ call: @escaping @Sendable () -> Void) {
      queue.async(execute: call)
    }
  }

  extension OperationQueue {
    /// The queue on which a session calls its delegate.
    static func forSession() -> OperationQueue? { DeliveryQueue() }
  }

  /// Returns a session's error as a `URLError` with the code that it has on Apple's platforms.
  ///
  /// swift-corelibs-foundation 6.3.1 fails with an `NSError` that can't be cast to `URLError`, and
  /// with meaningless codes for a lost connection or a bad certificate.
  func sessionError(_ error: any Error, hasHead: Bool) -> any Error {
    let plain = error as NSError
    guard plain.domain == NSURLErrorDomain else { return error }
    if let code = realCode(of: plain, hasHead: hasHead) {
      return URLError(code, userInfo: plain.userInfo)
    }
    return error as? URLError ?? URLError(_nsError: plain)
  }

  /// Returns an error, which prints its description.
  ///
  /// That of Foundation prints its domain, its code, and "(null)" (swift-corelibs-foundation
  /// 6.3.1).
  func readableError(_ code: URLError.Code, _ info: [String: Any]) -> URLError {
    URLError(
      _nsError: ReadableError(domain: NSURLErrorDomain, code: code.rawValue, userInfo: info))
  }

  private final class ReadableError: NSError, @unchecked Sendable {
    // Sendable because it has no properties of its own.
    override var description: String { localizedDescription }
  }

  private func realCode(of error: NSError, hasHead: Bool) -> URLError.Code? {
    let text = error.userInfo[NSLocalizedDescriptionKey] as? String ?? ""
    return switch error.code {
    case NSURLErrorBadServerResponse where text.hasPrefix("Empty reply"): .networkConnectionLost
    case NSURLErrorUnknown where text.hasPrefix("SSL cert"): .serverCertificateUntrusted
    case NSURLErrorUnknown where text.isAboutContentEncoding: .cannotDecodeContentData
    case NSURLErrorUnknown where hasHead: .networkConnectionLost
    default: nil
    }
  }

  extension String {
    /// Whether libcurl reports an unknown encoding, or bytes that do not match it.
    fileprivate var isAboutContentEncoding: Bool {
      hasPrefix("Unrecognized") || contains("content unencoding")
    }
  }
#endif
