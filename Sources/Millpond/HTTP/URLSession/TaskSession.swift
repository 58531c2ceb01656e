import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A `URLSession` with its delegate, which ends when it is released.
final class TaskSession: Sendable {
  private let session: URLSession
  private let transfers: SessionTransfers

  init(_ settings: SessionSettings, connectionsPerHost: Int) {
    transfers = SessionTransfers(settings)
    session = URLSession(
      configuration: settings.configuration(connectionsPerHost: connectionsPerHost),
      delegate: transfers, delegateQueue: .forSession())
  }

  deinit {
    // Not `invalidateAndCancel`, which may cancel a task for a second time: on Linux that traps. No
    // task runs any more at this point.
    session.finishTasksAndInvalidate()
  }

  /// Returns a task, whose calls go to a transfer.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - transfer: The transfer.
  ///   - isOnlyTask: Whether the session lives no longer than the task.
  func makeTask(
    _ request: HTTPRequest, _ transfer: SessionTransfer, isOnlyTask: Bool = false
  ) -> URLSessionTask {
    let bodyLength = request.body?.length
    let task = session.task(for: request, bodyLength: bodyLength) { [weak transfer] in
      transfer?.refuse(TransferError.wrongLength(stated: bodyLength ?? 0))
    }
    let priority = request.lookup.priority
    if priority != .normal { task.priority = priority.fraction }
    transfers.add(transfer, for: task, bodyLength: bodyLength, of: isOnlyTask ? self : nil)
    return task
  }
}

/// The running transfers of a session by task; the session's delegate, called on its serial queue.
final class SessionTransfers: NSObject, URLSessionDataDelegate {
  let settings: SessionSettings
  private let running = Locked<[Int: Entry]>([:])

  init(_ settings: SessionSettings) {
    self.settings = settings
  }

  struct Entry: Sendable {
    let transfer: SessionTransfer
    let bodyLength: Int?

    /// The session of this task alone, which lives until the task has ended.
    let session: TaskSession?

    /// The moments of the present exchange, where the session does not measure them.
    var start = ContinuousClock.Instant.now
    var firstByte: ContinuousClock.Instant?
  }

  func add(
    _ transfer: SessionTransfer, for task: URLSessionTask, bodyLength: Int?,
    of session: TaskSession?
  ) {
    let entry = Entry(transfer: transfer, bodyLength: bodyLength, session: session)
    running.withLock { $0[task.taskIdentifier] = entry }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    beginAnswer(dataTask)
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
    endExchange(entry(of: task), response)
    change(task) { ($0.start, $0.firstByte) = (.now, nil) }
    transfer(of: task)?.redirect(response, to: request, completionHandler)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    let entry = running.withLock { $0.removeValue(forKey: task.taskIdentifier) }
    endExchange(entry, task.response)
    entry?.transfer.finish(task.response, error)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData byteCount: Int64,
    totalBytesSent: Int64, totalBytesExpectedToSend: Int64
  ) {
    guard let entry = entry(of: task) else { return }
    entry.transfer.sent(Int(totalBytesSent), of: entry.bodyLength)
  }

  /// Ends the transfer of a task whose bytes have all been delivered; returns whether it has sent
  /// the end.
  func complete(_ task: URLSessionTask) -> Bool {
    guard let entry = entry(of: task),
      entry.transfer.finish(task.response, nil)
    else { return false }
    running.discard { $0.removeValue(forKey: task.taskIdentifier) }
    endExchange(entry, task.response)
    return true
  }

  func transfer(of task: URLSessionTask) -> SessionTransfer? { entry(of: task)?.transfer }

  private func entry(of task: URLSessionTask) -> Entry? {
    running.withLock { $0[task.taskIdentifier] }
  }

  func change(_ task: URLSessionTask, _ change: @Sendable (inout Entry) -> Void) {
    running.withLock { running in
      guard var entry = running[task.taskIdentifier] else { return }
      change(&entry)
      running[task.taskIdentifier] = entry
    }
  }
}
