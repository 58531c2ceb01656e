import Dispatch
public import MillpondSignals

#if canImport(FoundationNetworking)
  import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

/// A transport that sends requests through a `URLSession` of its own, which lives as long as it is
/// used.
///
/// By itself it uses no cookies, no credentials and no cache of the system: caching is done
/// elsewhere, and an answer must not depend on earlier callers. Connections are kept and reused.
/// With a configuration of yours it uses proxies, networks and cookies as that says;
/// <doc:SessionsOfYourOwn> has examples.
///
/// On Linux a `URLSession` has faults that no caller can prevent. If origins can't be trusted, plug
/// in another ``HTTPTransport``. Seen in swift-corelibs-foundation 6.3.1:
/// - An origin that closes the connection inside the header lines crashes the process, and so does a
///   chunked answer with a trailer field.
/// - A header line with bytes that are not UTF-8, without a carriage return, or with a space before
///   its colon fails the get.
/// - While an origin sends faster than the process can receive, nothing else happens in any
///   session, not even a cancellation; gets fail by their timeouts meanwhile.
/// - A head of many thousand fields has the same effect: 20,000 of them block sessions for five
///   seconds.
/// - It can't pause a transfer, and keeps in memory, without a bound, bytes that arrive faster than
///   they are taken. So a ``MediaCache`` requests large files in ranges of 16 MiB, one
///   after another, if the origin supports ranges and sends a validator. Other receivers have to
///   take pieces in time.
/// - A gzipped body that was cut before it was sent, and is framed as complete, counts as complete
///   unless it decodes to nothing. Send `Accept-Encoding: identity` to rule that out.
/// - A file that becomes shorter while it is sent, or vanishes in that moment, ends the request
///   only by its idle timeout.
///
/// A body that is a stream is written to a temporary file first, and sent when it is complete: so
/// it has a length, and can be sent again after a redirect. On Linux a request with a body, or one
/// that is not idempotent, uses a connection of its own, since the session would repeat it, with an
/// empty body, if a connection that was used before is closed without an answer.
///
/// Its other faults are worked around. Of the requests to one host at most 64 (or as many as there
/// are connections) are with the session. The others wait before it, by priority, and can be
/// cancelled by the thousand at once without delaying later ones.
///
/// - Note: Any thread.
public final class URLSessionTransport: HTTPTransport {
  private let session: TaskSession
  private let commands = SerialQueue(label: "millpond.http", qos: .userInitiated)
  private let slots: HostConnectionLimit
  private let settings: SessionSettings

  /// Creates a transport with a session of its own.
  ///
  /// - Parameter connectionsPerHost: The number of connections to one host, at least one. Further
  ///   requests wait, and their timeouts count meanwhile.
  public convenience init(connectionsPerHost: Int = 6) {
    self.init(SessionSettings(.withoutCookies(connectionsPerHost: connectionsPerHost)))
  }

  /// Creates a transport whose session is configured by the caller.
  ///
  /// The configuration is copied. Four things are not taken from it, and set here:
  /// - its cache and its cache policy, since the age of a value must be known: ``HTTPCache``
  ///   caches;
  /// - its time limits, which ``HTTPLimits`` replaces;
  /// - its storage of credentials, which callers would share: ``HTTPAuthorization`` has them;
  /// - that the session adds cookies and additional headers. The transport adds the same ones
  ///   itself, so that an ``HTTPCache`` can tell users apart by them.
  ///
  /// A request that has a field is not given another of that name. A redirect to another origin
  /// leaves out additional headers that authenticate the caller.
  ///
  /// Every request through a configuration for the background fails with
  /// ``TransferError/invalidRequest(reason:url:)``: such a session only carries files.
  ///
  /// - Parameters:
  ///   - configuration: The configuration; its number of connections to one host counts too.
  ///   - onMetrics: Receives the times of each exchange with an origin, on a queue of the session;
  ///     it should return soon.
  public convenience init(
    configuration: URLSessionConfiguration,
    onMetrics: (@Sendable (TransferMetrics) -> Void)? = nil
  ) {
    self.init(SessionSettings(configuration, onMetrics: onMetrics))
  }

  init(_ settings: SessionSettings) {
    self.settings = settings
    // Enough for connections that carry several requests at once.
    slots = HostConnectionLimit(max(64, settings.connectionsPerHost))
    session = TaskSession(settings, connectionsPerHost: settings.connectionsPerHost)
  }

  /// Whether the session waits for a slow receiver, and the fields that it adds.
  public var capabilities: TransportCapabilities {
    TransportCapabilities(
      appliesBackpressure: Self.appliesBackpressure, addedFields: settings.addedFields)
  }

  /// Returns the head, and then the body as it arrives.
  ///
  /// - Parameter request: The request.
  public func send(_ request: HTTPRequest) -> Signal<HTTPPart> {
    if let problem = settings.problem ?? request.problem { return .fail(problem) }
    let answer = withFileForStream(request) { request in
      self.slots.answer(to: request) { self.answer(to: request, finished: $0) }
    }
    // The session calls its delegate on one queue for all transfers.
    return request.isStreamed ? answer.decoupled(waitingLimit: Self.waitingLimit) : answer
  }

  /// Writes a body that is a stream to a file, which is sent instead, and removed at the end.
  private func withFileForStream(
    _ request: HTTPRequest, _ send: @escaping @Sendable (HTTPRequest) -> Signal<HTTPPart>
  ) -> Signal<HTTPPart> {
    guard let body = request.body else { return send(request) }
    switch body.content {
    case .data: return send(request)
    case .file(let url):
      return .deferred {
        body.length == nil ? .fail(TransferError.unreadable(url)) : send(request)
      }
    case .stream:
      return Signal { observer, lifetime in
        let receive = { @Sendable (file: SpooledFile) in
          lifetime.onEnd { withExtendedLifetime(file) {} }
          var request = request
          request.body = .file(file.url, contentType: body.contentType)
          send(request).run(observer, lifetime)
        }
        SpooledFile.of(body).run(
          Observer(
            next: receive,
            other: { event in
              // The answer completes.
              if case .completed = event { return }
              observer.other(event)
            }), lifetime)
      }
    }
  }

  private func answer(
    to request: HTTPRequest, finished: @escaping @Sendable () -> Void
  ) -> Signal<HTTPPart> {
    Signal { [capabilities] observer, lifetime in
      let request = request.adding(capabilities)
      if request.added != nil, let problem = request.problem {
        finished()
        return observer.failed(problem)
      }
      let transfer = SessionTransfer(
        request, observer, commands: self.commands, capabilities: capabilities,
        finished: finished)
      transfer.start { self.makeTask($0, transfer) }
      let raising = request.onRaise { transfer.raise(to: $0.fraction) }
      lifetime.onEnd {
        raising?.dispose()
        transfer.cancel()
      }
    }
  }

  private func makeTask(_ request: HTTPRequest, _ transfer: SessionTransfer) -> URLSessionTask {
    guard request.needsOwnConnection else { return session.makeTask(request, transfer) }
    return TaskSession(settings, connectionsPerHost: 1)
      .makeTask(request, transfer, isOnlyTask: true)
  }
}

extension Signal<HTTPPart> {
  /// Delivers on a queue of its own, so that a slow subscriber does not hold up the sender of the
  /// parts.
  ///
  /// - Parameter waitingLimit: The bytes that may wait for the subscriber; beyond them the sender
  ///   waits until all are delivered.
  func decoupled(waitingLimit: Int) -> Signal {
    Signal { observer, lifetime in
      let queue = BoundedByteQueue("millpond.http.parts", qos: .userInitiated, limit: waitingLimit)
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

extension URLRequest {
  init(_ request: HTTPRequest) {
    self.init(
      url: request.url, cachePolicy: .reloadIgnoringLocalCacheData,
      timeoutInterval: SessionSettings.aWeek)
    httpMethod = request.method.name
    for field in request.fields.fields { addValue(field.value, forHTTPHeaderField: field.name) }
    if case .data(let bytes)? = request.body?.content { httpBody = bytes }
  }
}

extension Priority {
  var fraction: Float {
    switch self {
    case .low: URLSessionTask.lowPriority
    case .normal: URLSessionTask.defaultPriority
    case .high: URLSessionTask.highPriority
    }
  }
}
