public import Foundation
public import MillpondCore
public import MillpondSignals

/// Asks an origin by HTTP: the key is the URL, the value the whole body.
///
/// A miss never comes from here: an answer is a value if its status is 2xx and its body complete,
/// and anything else fails. 206 is never the whole; 304 was not asked for. Progress counts bytes,
/// with a total where the origin names one. Disposing of the subscription stops the transfer.
///
/// An ask for what is cached only completes empty, without a request; a reload asks caches on the
/// way to the origin to step aside. The origin's `ETag` and `Last-Modified` travel with the value.
///
///     let thumbnails = memory.layered(over: HTTPSource().limited(to: 6))
///
/// - Throws: ``TransferError``, and what the transport fails with as it was thrown: from
///   ``URLSessionTransport`` a `URLError`.
/// - Note: Any thread. Observers run on a queue of the system, never on the transport's, which
///   would otherwise wait for them.
public struct HTTPSource: Source {
  private let transport: any HTTPTransport
  private let limits: HTTPLimits
  private let timeline: Timeline

  /// A source that sends its requests through `transport`.
  ///
  /// - Parameters:
  ///   - transport: Who carries requests out; by default a `URLSession` of this source's own.
  ///   - limits: What an answer may take in time and bytes.
  ///   - clock: By which time is told.
  public init(
    transport: any HTTPTransport = URLSessionTransport(), limits: HTTPLimits = .standard,
    clock: some Clock<Duration> = ContinuousClock()
  ) {
    self.transport = transport
    self.limits = limits
    timeline = Timeline(clock)
  }

  /// The body.
  public func get(_ key: URL, _ lookup: Lookup) -> Signal<Data> {
    getStamped(key, lookup).map { $0.value }
  }

  /// The body, new, with what its origin can tell later whether it is still good by.
  public func getStamped(_ key: URL, _ lookup: Lookup) -> Signal<Stamped<Data>> {
    if lookup.freshness == .cachedOnly { return .empty }
    guard key.isWebAddress else { return .fail(TransferError.unsupportedURL(key)) }
    return .deferred { answer(to: HTTPRequest(url: key, lookup)) }
  }

  private func answer(to request: HTTPRequest) -> Signal<Stamped<Data>> {
    transport.send(request)
      .timed(Patience(limits, since: timeline.now()), on: timeline)
      .gathered(byteLimit: limits.byteLimit)
      .receive(on: .global(qos: .userInitiated))
  }
}

extension HTTPRequest {
  fileprivate init(url: URL, _ lookup: Lookup) {
    // RFC 9111 §5.2.1.4: what no cache on the way may answer by itself.
    let headers: HeaderFields = lookup.freshness == .reload ? ["Cache-Control": "no-cache"] : [:]
    self.init(url: url, headers: headers, priority: lookup.priority)
  }
}
