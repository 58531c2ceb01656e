import Dispatch
import Foundation
import MillpondSignals
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A task of a session and its observer.
///
/// The session's calls, and those to the observer, are made on one serial queue; ``start(_:)`` and
/// ``cancel()`` may be called on any thread.
final class SessionTransfer: Sendable {
  private let observer: Observer<HTTPPart>
  private let commands: DispatchQueue
  private let phase = Locked(SessionPhase())
  private let task = Locked<URLSessionTask?>(nil)
  private let request: HTTPRequest
  private let hasLeftOrigin = Atomic(false)
  private let isRedirected = Atomic(false)
  private let finished: @Sendable () -> Void

  /// Creates a transfer.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - observer: Receives the answer.
  ///   - commands: The queue for calls to the session. Linux: such a call waits for the working
  ///     queue that all sessions share, and an origin that sends without a pause keeps that busy
  ///     for seconds (swift-corelibs-foundation 6.3.1; on its main branch `cancel` returns).
  ///   - finished: Called once, when the session has finished with the task or will never receive
  ///     it.
  init(
    _ request: HTTPRequest, _ observer: Observer<HTTPPart>, commands: DispatchQueue,
    finished: @escaping @Sendable () -> Void = {}
  ) {
    self.finished = finished
    self.request = request
    self.observer = observer
    self.commands = commands
  }

  func start(_ make: @escaping @Sendable () -> URLSessionTask) {
    commands.async {
      guard self.phase.withLock({ $0.isActive }) else { return self.finished() }
      let task = make()
      self.task.withLock { $0 = task }
      task.resume()
    }
  }

  /// Changes the task's priority to that of its callers.
  ///
  /// Linux: the session stores it without effect (swift-corelibs-foundation 6.3.1).
  func raise(to priority: Float) {
    commands.async {
      guard self.phase.withLock({ $0.isActive }) else { return }
      self.task.withLock { $0 }?.priority = priority
    }
  }

  func cancel() {
    if phase.withLock({ $0.cancel() }) { cancelTask() }
  }

  func receive(_ response: URLResponse) {
    guard let response = response as? HTTPURLResponse else { return }
    if phase.withLock({ $0.beginHead() }) {
      let head = HTTPHead(
        response, isOfOtherOrigin: hasLeftOrigin.load(ordering: .relaxed),
        isRedirected: isRedirected.load(ordering: .relaxed))
      observer.next(.head(head))
    }
  }

  func receive(_ data: Data) {
    if phase.withLock({ $0.isActive }) { observer.next(.body(data)) }
  }

  func redirect(
    _ response: HTTPURLResponse, to request: URLRequest,
    _ answer: @Sendable (URLRequest?) -> Void
  ) {
    guard let target = response.redirectTarget ?? request.url else { return }
    guard target.isWebAddress else { return refuse(.unsupportedURL(target)) }
    isRedirected.store(true, ordering: .relaxed)
    if !target.isOfSameOrigin(as: self.request.url) {
      hasLeftOrigin.store(true, ordering: .relaxed)
    }
    let next = self.request.redirected(
      request, to: target, hasLeftOrigin: hasLeftOrigin.load(ordering: .relaxed))
    // A cancelled task must not be answered, nor be cancelled before it is answered: on Linux
    // either traps. No caller waits for the answer then.
    guard phase.withLock({ $0.beginAnswer() }) else { return }
    answer(next)
    if phase.withLock({ $0.endAnswer() }) { cancelTask() }
  }

  func finish(_ response: URLResponse?, _ error: (any Error)?) {
    finished()
    // Linux: a redirect without a target ends before its head is delivered.
    if error == nil, let response, !phase.withLock({ $0.hasHead }) { receive(response) }
    let hasHead = phase.withLock { $0.hasHead }
    guard phase.withLock({ $0.end() }) else { return }
    if let error {
      observer.failed(sessionError(error, hasHead: hasHead))
    } else {
      observer.completed()
    }
  }

  private func refuse(_ error: TransferError) {
    guard phase.withLock({ $0.end() }) else { return }
    cancelTask()
    observer.failed(error)
  }

  private func cancelTask() { commands.async { self.task.withLock { $0 }?.cancel() } }
}

extension HTTPHead {
  fileprivate init(_ response: HTTPURLResponse, isOfOtherOrigin: Bool, isRedirected: Bool) {
    let fields = response.allHeaderFields.map { name, value in
      (name: name as? String ?? "\(name)", value: value as? String ?? "\(value)")
    }
    self.init(
      status: response.statusCode, headers: HeaderFields(fields),
      isOfOtherOrigin: isOfOtherOrigin, isRedirected: isRedirected)
  }
}

/// The phase of a session's task, which decides the actions that are still allowed.
struct SessionPhase: Sendable {
  private(set) var hasHead = false
  private var isEnded = false
  private var isCancelled = false
  private var isAnswering = false

  var isActive: Bool { !isEnded && !isCancelled }

  /// Records the head; returns whether it may be passed on.
  mutating func beginHead() -> Bool {
    hasHead = true
    return isActive
  }

  /// Records the cancellation; returns whether the task is to be cancelled now, which is true only
  /// once.
  mutating func cancel() -> Bool {
    guard isActive else { return false }
    isCancelled = true
    return !isAnswering
  }

  /// Begins the answer to a redirect; returns whether it is to be given.
  mutating func beginAnswer() -> Bool {
    isAnswering = isActive
    return isAnswering
  }

  /// Ends the answer to a redirect; returns whether the task is to be cancelled now.
  mutating func endAnswer() -> Bool {
    isAnswering = false
    return isCancelled && !isEnded
  }

  /// Records the end; returns whether it is still to be sent.
  mutating func end() -> Bool {
    defer { isEnded = true }
    return isActive
  }
}

/// The running transfers of a session by task; the session's delegate, called on its serial queue.
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
