import Foundation
import MillpondSignals

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The running transfers of a session, by task: its delegate, called on its serial queue.
final class SessionTransfers: NSObject, URLSessionDataDelegate {
  private let running = Locked<[Int: SessionTransfer]>([:])

  func add(_ transfer: SessionTransfer, for task: URLSessionTask) {
    running.withLock { $0[task.taskIdentifier] = transfer }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    transfer(of: dataTask)?.receive(response)
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    transfer(of: dataTask)?.receive(data)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    transfer(of: task)?.redirect(response, to: request, completionHandler)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    let transfer = running.withLock { $0.removeValue(forKey: task.taskIdentifier) }
    transfer?.finish(task.response, error)
  }

  private func transfer(of task: URLSessionTask) -> SessionTransfer? {
    running.withLock { $0[task.taskIdentifier] }
  }
}
