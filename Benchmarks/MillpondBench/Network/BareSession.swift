import Dispatch
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A bare URLSession: a delegate, a task, and a wait for its end.
final class BareSession: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  // Sendable because one task runs at a time, and its end is awaited before anything is read.
  private let end = DispatchSemaphore(value: 0)
  private var gathered = Data()
  private var count = 0
  private let gathers: Bool
  private let cache: URLCache?

  private lazy var session: URLSession = {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = cache
    configuration.httpCookieStorage = nil
    configuration.urlCredentialStorage = nil
    configuration.requestCachePolicy =
      cache == nil ? .reloadIgnoringLocalCacheData : .useProtocolCachePolicy
    return URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
  }()

  /// - Parameters:
  ///   - gathers: Whether bodies are put together, or only counted.
  ///   - cache: The cache of the session; nil for none.
  init(gathers: Bool, cache: URLCache? = nil) {
    self.gathers = gathers
    self.cache = cache
  }

  /// Sends one request, waits for its end, and returns the number of bytes.
  func get(_ url: URL) -> Int {
    (gathered, count) = (Data(), 0)
    session.dataTask(with: URLRequest(url: url)).resume()
    end.wait()
    return count
  }

  func close() {
    session.finishTasksAndInvalidate()
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    count += data.count
    if gathers { gathered.append(data) }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    end.signal()
  }
}
