#if canImport(FoundationNetworking)
  import Dispatch
  import Foundation
  import FoundationNetworking

  extension URLSessionTransport {
    /// False: the session can't pause a transfer, and keeps what comes faster than it is taken.
    ///
    /// Seen in swift-corelibs-foundation 6.3.1. This can change when the session can wait.
    public var appliesBackpressure: Bool { false }

    /// No limit: the session keeps in memory what it is not allowed to deliver.
    static var waitingLimit: Int { .max }
  }

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
    /// The queue on which a session calls its delegate.
    static func forSession() -> OperationQueue? { DeliveryQueue() }
  }

  /// What a session's error says, as a `URLError` with the code that it has on Apple's platforms.
  ///
  /// swift-corelibs-foundation 6.3.1 fails with an `NSError` that doesn't turn into a `URLError`,
  /// and with codes that say nothing for a connection that is lost or a certificate that is bad.
  func sessionError(_ error: any Error, hasHead: Bool) -> any Error {
    let plain = error as NSError
    guard plain.domain == NSURLErrorDomain else { return error }
    if let code = realCode(of: plain, hasHead: hasHead) {
      return URLError(code, userInfo: plain.userInfo)
    }
    return error as? URLError ?? URLError(_nsError: plain)
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
    /// Whether libcurl says that it does not know an encoding, or that the bytes are not of it.
    fileprivate var isAboutContentEncoding: Bool {
      hasPrefix("Unrecognized") || contains("content unencoding")
    }
  }
#endif
