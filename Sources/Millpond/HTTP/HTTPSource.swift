public import Foundation
public import MillpondCore
public import MillpondSignals

/// Asks an origin by HTTP: the value is the whole body.
///
/// The key is the URL, or whatever a request can be made of:
///
///     let thumbnails = memory.layered(over: HTTPSource().limited(to: 6))
///
///     let photos = HTTPSource { (id: Photo.ID) in
///       HTTPRequest(url: try await signer.url(of: id), identity: "photo \(id)")
///     }
///
/// A miss never comes from here: an answer is a value if its status is 2xx and its body complete,
/// and anything else fails. 206 is never the whole; 304 was not asked for. Progress counts bytes,
/// with a total where the origin names one; of at most 64 KiB only what lies between their beginning
/// and their end is told. Disposing of the subscription stops the transfer.
///
/// An ask for what is cached only completes empty, without a request; a reload asks caches on the
/// way to the origin to step aside. The origin's `ETag` and `Last-Modified` travel with the value.
///
/// - Throws: ``TransferError``, and what the transport fails with as it was thrown: from
///   ``URLSessionTransport`` a `URLError`.
/// - Note: Any thread. Observers run on a queue of the system, never on the transport's, which
///   would otherwise wait for them. That queue has a few dozen threads for the whole process: an observer
///   that blocks receives on a queue of its own, or it delays the answers of other sources. A sign-out
///   fails the observers on its own thread.
public struct HTTPSource<Key: Hashable & Sendable>: StampedSource {
  private let request: @Sendable (Key) -> Signal<HTTPRequest>
  private let transfers: Transfers

  /// A source that asks for what `request` makes of a key.
  ///
  /// - Parameters:
  ///   - transport: Who carries requests out; by default a `URLSession` of this source's own.
  ///   - limits: What an answer may take in time and bytes.
  ///   - authorization: What proves to the origin who asks.
  ///   - partials: Where transfers that break off leave what came, so that they can go on.
  ///   - clock: By which time is told.
  ///   - request: Runs in a task at each get, within its timeouts; its task is cancelled when nobody
  ///     waits for the answer. What it throws fails the get as it was thrown.
  public init(
    transport: any HTTPTransport = URLSessionTransport(), limits: HTTPLimits = .standard,
    authorization: HTTPAuthorization? = nil, resuming partials: PartialTransfers? = nil,
    clock: some Clock<Duration> = ContinuousClock(),
    request: @escaping @Sendable (Key) async throws -> HTTPRequest
  ) {
    self.request = { key in .async { try await request(key) } }
    transfers = Transfers(
      transport: transport, limits: limits, authorization: authorization,
      partials: partials, ticker: Ticker(Timeline(clock)))
  }

  /// The body, new, with what its origin can tell later whether it is still good by.
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Data>> {
    if lookup.freshness == .cachedOnly { return .empty }
    return transfers.answer(to: request(key).map { $0.asked(by: lookup) })
  }
}

extension HTTPSource {
  /// The body in the pieces in which it comes, so that it never is in memory as a whole: for what is
  /// to be a file.
  ///
  ///     disk.storing(films.pieces(of: url), for: url.absoluteString)
  ///
  /// They are worth something only if they complete: what breaks off, or turns out not to be as long
  /// as its origin said, fails after the pieces. It is not resumed, since they are with whoever took
  /// them; a ``MediaCache`` resumes.
  ///
  /// - Note: The transport waits while a piece is being delivered, which does not count as silence of the
  ///   origin. ``URLSessionTransport`` delivers the pieces of each transfer on a queue of its own, so that
  ///   a slow subscriber delays no other transfer; what the system receives meanwhile is kept in memory,
  ///   on Linux without a bound.
  public func pieces(of key: Key, _ lookup: Lookup = Lookup()) -> Signal<Data> {
    if lookup.freshness == .cachedOnly { return .empty }
    return transfers.pieces(of: request(key).map { $0.asked(by: lookup) })
  }

  /// The body for a file; what of it breaks off can be gone on with.
  ///
  /// - Parameter strategy: Nil is what suits the transport.
  /// - Throws: ``LostResumePoint`` if it was asked for in ranges, and can't be gone on with.
  func download(
    _ key: Key, _ lookup: Lookup, _ revision: Revision, byteLimit: Int,
    _ strategy: DownloadStrategy?
  ) -> Download {
    let suited = transfers.transport.appliesBackpressure ? DownloadStrategy.atOnce : .inRanges
    return transfers.download(
      request(key).map { $0.asked(by: lookup) }, strategy ?? suited, revision,
      byteLimit: byteLimit)
  }

  /// Removes what broken transfers have left, where everything is removed; nothing else is kept here.
  public func apply(_ change: Change<Key, Data>) -> Signal<Void> {
    guard case .removeAll(let revision) = change, let partials = transfers.partials else {
      return .just(())
    }
    return partials.removeAll(revision)
  }
}

extension HTTPSource where Key == URL {
  /// A source of which the keys are URLs.
  ///
  /// - Parameters:
  ///   - transport: Who carries requests out; by default a `URLSession` of this source's own.
  ///   - limits: What an answer may take in time and bytes.
  ///   - authorization: What proves to the origin who asks; it is sent to whatever a URL names.
  ///   - partials: Where transfers that break off leave what came, so that they can go on.
  ///   - clock: By which time is told.
  public init(
    transport: any HTTPTransport = URLSessionTransport(), limits: HTTPLimits = .standard,
    authorization: HTTPAuthorization? = nil, resuming partials: PartialTransfers? = nil,
    clock: some Clock<Duration> = ContinuousClock()
  ) {
    request = { .just(HTTPRequest(url: $0)) }
    transfers = Transfers(
      transport: transport, limits: limits, authorization: authorization,
      partials: partials, ticker: Ticker(Timeline(clock)))
  }
}
