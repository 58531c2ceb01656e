import Dispatch
import Foundation
public import MillpondSignals

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Sends requests by one `URLSession` of its own, that lives as long as it is used.
///
/// No cookies, no credentials, and no cache of the system's: caching is done elsewhere, and what
/// comes back must not depend on who asked before. Connections are kept and used again.
///
/// On Linux a `URLSession` has faults that no caller can keep away. Where origins can't be trusted,
/// plug in another ``HTTPTransport``. Seen in swift-corelibs-foundation 6.3.1:
/// - An origin that closes the connection inside the header lines brings the process down.
/// - While an origin sends faster than the process can take it in, nothing else happens in any
///   session, not even the cancellation; gets fail by their timeouts meanwhile.
/// - A head of many thousand fields keeps it as busy: 20,000 of them for five seconds.
/// - It can't pause a transfer, and keeps what comes faster than it is taken in memory, without a
///   bound. So a ``MediaCache`` asks it for what is large in ranges of 4 MiB and more, one after the
///   other, where the origin knows ranges and gives a validator. Who takes pieces takes them in time.
/// - A gzipped body that was cut before it was sent, and is framed as whole, is taken for whole,
///   except where not one byte of text is left. Who can't have that sends `Accept-Encoding: identity`.
///
/// Its other faults are worked around. Of requests to one host at most 64 (or as many as there are
/// connections) are with the session; the others wait before it, the most urgent first, and can be left
/// by the thousand at once without a delay for those that come after.
///
/// - Note: Any thread.
public final class URLSessionTransport: HTTPTransport {
  private let session: URLSession
  private let transfers = SessionTransfers()
  private let commands = DispatchQueue(label: "millpond.http", qos: .userInitiated)
  private let slots: HostSlots

  /// A transport with a session of its own.
  ///
  /// - Parameter connectionsPerHost: More requests to one host wait, and their timeouts run
  ///   meanwhile; less than one is taken as one.
  public init(connectionsPerHost: Int = 6) {
    // Enough for connections that carry several requests at once.
    slots = HostSlots(max(64, connectionsPerHost))
    session = URLSession(
      configuration: .millpond(connectionsPerHost: max(1, connectionsPerHost)),
      delegate: transfers, delegateQueue: .forSession())
  }

  deinit {
    // Not `invalidateAndCancel`, which may cancel for a second time what is being cancelled: on
    // Linux that traps. Nothing runs here any more anyway.
    session.finishTasksAndInvalidate()
  }

  /// The head, and then the body as it arrives.
  public func send(_ request: HTTPRequest) -> Signal<HTTPPart> {
    let answer = slots.answer(to: request) { self.answer(to: request, finished: $0) }
    // The session calls its delegate on one queue for all transfers.
    return request.isStreamed ? answer.decoupled(waitingLimit: Self.waitingLimit) : answer
  }

  private func answer(
    to request: HTTPRequest, finished: @escaping @Sendable () -> Void
  ) -> Signal<HTTPPart> {
    Signal { observer, lifetime in
      let transfer = SessionTransfer(
        request, observer, commands: self.commands, finished: finished)
      transfer.start { self.makeTask(request, transfer) }
      let raising = request.onRaise { transfer.raise(to: $0.fraction) }
      lifetime.onEnd {
        raising?.dispose()
        transfer.cancel()
      }
    }
  }

  private func makeTask(_ request: HTTPRequest, _ transfer: SessionTransfer) -> URLSessionTask {
    let dataTask = session.dataTask(with: URLRequest(request))
    let priority = request.currentPriority
    if priority != .normal { dataTask.priority = priority.fraction }
    transfers.add(transfer, for: dataTask)
    return dataTask
  }
}

extension Signal<HTTPPart> {
  /// Delivers on a queue of its own, so that a slow subscriber does not hold up what sends the parts.
  ///
  /// - Parameter waitingLimit: When more bytes than this wait for the subscriber, the sender waits until all
  ///   are delivered.
  func decoupled(waitingLimit: Int) -> Signal {
    Signal { observer, lifetime in
      let queue = ByteQueue("millpond.http.parts", qos: .userInitiated, limit: waitingLimit)
      run(
        Observer(
          next: { part in
            queue.add(part.byteCount) { if !lifetime.isEnded { observer.next(part) } }
          },
          other: { event in queue.add { if !lifetime.isEnded { observer.other(event) } } }),
        lifetime)
    }
  }
}

extension HTTPPart {
  fileprivate var byteCount: Int { if case .body(let bytes) = self { bytes.count } else { 0 } }
}

extension URLSessionConfiguration {
  /// Timeouts are set far beyond ours: on Linux a request's own is ignored, and one that comes
  /// while a redirect is decided leaves the task without an end.
  static func millpond(connectionsPerHost: Int) -> URLSessionConfiguration {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.urlCredentialStorage = nil
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.httpCookieAcceptPolicy = .never
    configuration.httpMaximumConnectionsPerHost = connectionsPerHost
    configuration.timeoutIntervalForRequest = aWeek
    configuration.timeoutIntervalForResource = aWeek
    return configuration
  }
}

extension URLRequest {
  fileprivate init(_ request: HTTPRequest) {
    self.init(
      url: request.url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: aWeek)
    for field in request.headers.fields + request.credentials.fields {
      addValue(field.value, forHTTPHeaderField: field.name)
    }
  }
}

extension Priority {
  fileprivate var fraction: Float {
    switch self {
    case .low: URLSessionTask.lowPriority
    case .normal: URLSessionTask.defaultPriority
    case .high: URLSessionTask.highPriority
    }
  }
}

private let aWeek: TimeInterval = 7 * 24 * 60 * 60
