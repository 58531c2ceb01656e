import Dispatch
import Foundation
import MillpondSignals

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A task of a session and its observer.
///
/// The session's calls, and those to the observer, are made on one serial queue; ``start(_:)`` and
/// ``cancel()`` may be called on any thread.
final class SessionTransfer: Sendable {
  private let observer: Observer<HTTPPart>
  private let commands: SerialQueue
  private let capabilities: TransportCapabilities
  private let state: Locked<State>
  private let finished: @Sendable () -> Void

  private struct State: Sendable {
    var phase = SessionPhase()

    /// The request, or the one that follows the latest redirect.
    var request: HTTPRequest
    var redirects = RedirectPolicy()

    /// Makes a task; nil before the start, and once the session's work is over.
    var make: (@Sendable (HTTPRequest) -> URLSessionTask)?
    var task: URLSessionTask?
  }

  /// Creates a transfer.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - observer: Receives the answer.
  ///   - commands: The queue for calls to the session. Linux: such a call waits for the working
  ///     queue that all sessions share, and an origin that sends without a pause keeps that busy
  ///     for seconds (swift-corelibs-foundation 6.3.1; on its main branch `cancel` returns).
  ///   - capabilities: The fields that the transport adds, also to what follows a redirect.
  ///   - finished: Called once, when the session has finished with the task or will never receive
  ///     it.
  init(
    _ request: HTTPRequest, _ observer: Observer<HTTPPart>, commands: SerialQueue,
    capabilities: TransportCapabilities = TransportCapabilities(),
    finished: @escaping @Sendable () -> Void = {}
  ) {
    self.capabilities = capabilities
    self.finished = finished
    state = Locked(State(request: request))
    self.observer = observer
    self.commands = commands
  }

  /// Starts the task that `make` returns, and another for each redirect that asks for the body
  /// again.
  func start(_ make: @escaping @Sendable (HTTPRequest) -> URLSessionTask) {
    state.withLock { $0.make = make }
    begin()
  }

  private func begin() {
    commands.async {
      let (make, request) = self.state.withLock { ($0.phase.isActive ? $0.make : nil, $0.request) }
      guard let task = make?(request) else { return self.release() }
      self.state.discard { exchange(&$0.task, with: task) }
      task.resume()
    }
  }

  /// Changes the task's priority to that of its callers.
  ///
  /// Linux: the session stores it without effect (swift-corelibs-foundation 6.3.1).
  func raise(to priority: Float) {
    commands.async {
      self.state.withLock { $0.phase.isActive ? $0.task : nil }?.priority = priority
    }
  }

  func cancel() {
    if state.withLock({ $0.phase.cancel() }) { cancelTask() }
  }

  func receive(_ response: URLResponse) {
    guard let response = response as? HTTPURLResponse else { return }
    let (isFirst, request) = state.withLock { ($0.phase.beginHead(), $0.request) }
    if isFirst {
      observer.next(.head(HTTPHead(response, request.redirection)))
    }
  }

  func receive(_ data: Data) {
    if state.withLock({ $0.phase.passesBody }) { observer.next(.body(data)) }
  }

  /// Reports the bytes of the request's body that have been sent.
  func sent(_ byteCount: Int, of total: Int?) {
    if state.withLock({ $0.phase.passesBody && !$0.phase.hasHead }) {
      observer.progress(SignalProgress(completed: byteCount, total: total))
    }
  }

  /// Follows a redirect, or refuses it, by ``RedirectPolicy``.
  ///
  /// A body is sent again by a task of its own: on Linux the session would send an empty one
  /// (swift-corelibs-foundation 6.3.1).
  func redirect(
    _ response: HTTPURLResponse, to request: URLRequest,
    _ answer: @Sendable (URLRequest?) -> Void
  ) {
    let location = response.value(forHTTPHeaderField: "Location")
    let resolved = RedirectPolicy.target(location, from: response.url)
    guard let target = resolved ?? request.url else { return }
    let result = state.withLock {
      $0.redirects.next(after: $0.request, by: HTTPHead(response, nil), to: target)
    }
    let next: HTTPRequest
    switch result {
    case .success(let request): next = request.adding(capabilities)
    case .failure(let error): return refuse(error)
    }
    // A cancelled task must not be answered, nor be cancelled before it is answered: on Linux
    // either traps. No caller waits for the answer then.
    let (former, answers) = state.withLock {
      (exchange(&$0.request, with: next), $0.phase.beginAnswer(repeats: next.body != nil))
    }
    withExtendedLifetime(former) {}  // released here, not under the lock
    guard answers else { return }
    answer(next.body == nil ? URLRequest(next) : nil)
    if state.withLock({ $0.phase.endAnswer() }) { cancelTask() }
  }

  /// Ends the transfer, or begins the task that follows a redirect; returns whether it has sent the
  /// end.
  @discardableResult
  func finish(_ response: URLResponse?, _ error: (any Error)?) -> Bool {
    if error == nil, state.withLock({ $0.phase.beginRepetition() }) {
      begin()
      return false
    }
    release()
    // Linux: a redirect without a target ends before its head is delivered.
    if error == nil, let response, !state.withLock({ $0.phase.hasHead }) { receive(response) }
    let (sendsEnd, hasHead, url) = state.withLock {
      ($0.phase.end(), $0.phase.hasHead, $0.request.url)
    }
    guard sendsEnd else { return false }
    if let error {
      observer.failed(sessionError(error, hasHead: hasHead).naming(url))
    } else {
      observer.completed()
    }
    return true
  }

  /// Ends the work for the session.
  private func release() {
    // It holds the transport, and the transport's session this.
    state.discard { exchange(&$0.make, with: nil) }
    finished()
  }

  /// Fails the transfer, and cancels its task; called on the delegate's queue.
  func refuse(_ error: any Error) {
    guard state.withLock({ $0.phase.end() }) else { return }
    cancelTask()
    observer.failed(error)
  }

  /// Fails the transfer because the user has refused its connection.
  func refuse(_ code: URLError.Code) { refuse(URLError(code).naming(url)) }

  /// The URL of the request, or of the one that follows the latest redirect.
  var url: URL { state.withLock { $0.request.url } }

  private func cancelTask() { commands.async { self.state.withLock { $0.task }?.cancel() } }
}

extension Error {
  /// Returns the same error, which names the URL without secrets if it is a `URLError`.
  fileprivate func naming(_ url: URL) -> any Error {
    guard let error = self as? URLError else { return self }
    let address = (error.failingURL ?? url).textWithoutSecrets
    // The same URL as text, and an underlying error that names it too.
    var info = error.userInfo.filter { key, _ in
      key != "NSErrorFailingURLStringKey" && key != NSUnderlyingErrorKey
    }
    info[NSURLErrorFailingURLErrorKey] = URL(string: address)
    info[NSLocalizedDescriptionKey] = "\(error.localizedDescription): \(address)"
    return readableError(error.code, info)
  }
}

extension HTTPHead {
  fileprivate init(_ response: HTTPURLResponse, _ redirection: Redirection?) {
    let fields = response.allHeaderFields.map { name, value in
      (name: name as? String ?? "\(name)", value: value as? String ?? "\(value)")
    }
    self.init(
      status: response.statusCode, headers: HeaderFields(fields), redirection: redirection)
  }
}

/// The phase of a session's task, which decides the actions that are still allowed.
struct SessionPhase: Sendable {
  private(set) var hasHead = false
  private var isEnded = false
  private var isCancelled = false
  private var isAnswering = false

  /// Whether the present task ends with a redirect after which another one is started.
  private var isRepeating = false

  var isActive: Bool { !isEnded && !isCancelled }

  /// Whether bytes of the present task are those of the answer.
  var passesBody: Bool { isActive && !isRepeating }

  /// Records the head; returns whether it may be passed on.
  mutating func beginHead() -> Bool {
    if isRepeating { return false }
    hasHead = true
    return isActive
  }

  /// Ends a task that another one follows; returns whether there is one.
  mutating func beginRepetition() -> Bool {
    exchange(&isRepeating, with: false) && isActive
  }

  /// Records the cancellation; returns whether the task is to be cancelled now, which is true only
  /// once.
  mutating func cancel() -> Bool {
    guard isActive else { return false }
    isCancelled = true
    return !isAnswering
  }

  /// Begins the answer to a redirect; returns whether it is to be given.
  ///
  /// - Parameter repeats: Whether another task follows this one.
  mutating func beginAnswer(repeats: Bool = false) -> Bool {
    isAnswering = isActive
    isRepeating = isActive && repeats
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
