import Dispatch
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A bare URLSession: a delegate that counts bytes, a task, and a wait for its end.
final class BareSession: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  // Sendable because one task runs at a time, and its end is awaited before anything is read.
  private let end = DispatchSemaphore(value: 0)
  private var count = 0

  private lazy var session: URLSession = {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.httpCookieStorage = nil
    configuration.urlCredentialStorage = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    return URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
  }()

  /// Sends one request, waits for its end, and returns the number of bytes.
  func get(_ url: URL) -> Int {
    count = 0
    session.dataTask(with: URLRequest(url: url)).resume()
    end.wait()
    return count
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    count += data.count
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    end.signal()
  }
}
