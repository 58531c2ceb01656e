public import Foundation
public import MillpondCore
public import MillpondSignals

/// A source that gets values by HTTP; a value is a complete body.
///
/// The key is the URL, or anything from which a request can be made:
///
///     let thumbnails = memory.layered(over: HTTPSource().limited(to: 6))
///
///     let photos = HTTPSource { (id: Photo.ID) in
///       HTTPRequest(url: try await signer.url(of: id), identity: "photo \(id)")
///     }
///
/// A get sends only requests that are safe, since it may be repeated, shared and cached: GET, or
/// another for which ``HTTPRequest/isSafe`` is true. ``send(_:accepting:)`` sends all others.
///
/// This source never misses: an answer with status 2xx and a complete body is a value, and anything
/// else is a failure. So is 206, which is never the whole body, and a 304 that was not requested.
/// A get that asks about a stored value (`Lookup.known`, as layers above do for one that is too
/// old) sends its validator, and a 304 is the answer that the value is still current, without a
/// body. Progress counts bytes, with a total if the origin sends one; for bodies of at most 64 KiB
/// the first and the last step are left out. Disposing of the subscription cancels the transfer.
///
/// A get with `Freshness.cachedOnly` completes empty without a request; a reload asks caches on
/// the way to the origin not to answer. The origin's `ETag` and `Last-Modified` travel with the
/// value.
///
/// - Throws: ``TransferError``, and the transport's own errors unchanged; for
///   ``URLSessionTransport`` a `URLError`.
/// - Note: Any thread. Observers run on a queue of the system, never on the transport's, which
///   would otherwise wait for them. That queue has a few dozen threads for the whole process, so an
///   observer that blocks should receive on a queue of its own, or it delays the answers of other
///   sources. A sign-out fails the observers on its own thread.
public struct HTTPSource<Key: Hashable & Sendable>: AnsweringSource {
  private let request: @Sendable (Key) -> Signal<HTTPRequest>
  let transfers: RequestSender

  /// Creates a source that makes requests from keys.
  ///
  /// - Parameters:
  ///   - transport: The transport; by default a `URLSession` of this source's own.
  ///   - limits: The limits on the time and size of an answer.
  ///   - authorization: The credentials for the origin.
  ///   - partials: The store for incomplete bodies, so that interrupted transfers can be resumed.
  ///   - clock: The clock for the time limits.
  ///   - request: Runs in a task at each get, within its time limits; the task is cancelled when no
  ///     caller waits for the answer. Its errors fail the get unchanged.
  public init(
    transport: any HTTPTransport = URLSessionTransport(), limits: HTTPLimits = .standard,
    authorization: HTTPAuthorization? = nil, resuming partials: PartialTransfers? = nil,
    clock: some Clock<Duration> = ContinuousClock(),
    request: @escaping @Sendable (Key) async throws -> HTTPRequest
  ) {
    self.init(
      transport: transport, limits: limits, authorization: authorization, resuming: partials,
      clock: clock, making: { key in .async { try await request(key) } })
  }

  /// Creates a source whose requests are signals.
  init(
    transport: any HTTPTransport, limits: HTTPLimits, authorization: HTTPAuthorization?,
    resuming partials: PartialTransfers?, clock: some Clock<Duration>,
    making request: @escaping @Sendable (Key) -> Signal<HTTPRequest>
  ) {
    self.request = request
    transfers = RequestSender(
      transport: transport, limits: limits, authorization: authorization,
      partials: partials, timers: SharedTimers(Scheduler(clock)))
  }

  /// Returns the body and its validator, with age zero; over an ``HTTPCache``, with the age and the
  /// time to live that the origin gave it.
  ///
  /// A get that wants a stale value at once gets what an ``HTTPCache`` has stored first, and then
  /// the newer one, unless what is stored is fresh or its origin forbids that.
  public func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Data>> {
    if lookup.freshness == .cachedOnly { return .empty }
    let answer = transfers.answer(to: asking(key, lookup))
    guard isCached, lookup.stale == .atOnce, lookup.freshness == .any else { return answer }
    return transfers.answer(to: asking(key, lookup).map { $0.onlyIfCached }).settle()
      .flatMap { stored in
        guard case .success(let stored) = stored else { return answer }
        let isOver = stored.stamped?.timeToLive == .after(.zero)
        return isOver ? .just(stored).concat(answer) : .just(stored)
      }
  }

  /// Whether gets are answered from stored responses.
  private var isCached: Bool { cache != nil }

  private var cache: HTTPCache? { transfers.transport.capabilities.cache }

  /// Returns the request of a get, with the conditions about the value that the get knows.
  private func asking(_ key: Key, _ lookup: Lookup) -> Signal<HTTPRequest> {
    // An HTTP cache asks about the response that it has stored itself.
    let known = isCached ? nil : lookup.known
    return request(key).map { request in
      let request = request.forLookup(lookup)
      return known.map { request.revalidating($0) } ?? request
    }
  }
}

extension HTTPSource {
  /// Returns the body in pieces as they arrive, for files that should never be in memory as a
  /// whole.
  ///
  ///     disk.storing(films.pieces(of: url), for: url.absoluteString)
  ///
  /// The pieces are valid only if the signal completes: an interrupted body, or one of another
  /// length than the origin announced, fails after its pieces. It is not resumed, since the pieces
  /// have been passed on; a ``MediaCache`` resumes.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - lookup: The terms of the get.
  /// - Note: The transport waits while a piece is being delivered, which does not count as silence
  ///   of the origin. ``URLSessionTransport`` delivers the pieces of each transfer on a queue of
  ///   its own, so that a slow subscriber delays no other transfer; bytes that the system receives
  ///   meanwhile are kept in memory: on Linux without a bound, and elsewhere up to 4 MiB, beyond
  ///   which the session waits, and its other transfers with it. A subscriber that may block for
  ///   long should have a source with a transport of its own.
  public func pieces(of key: Key, _ lookup: Lookup = Lookup()) -> Signal<Data> {
    if lookup.freshness == .cachedOnly { return .empty }
    return transfers.pieces(of: request(key).map { $0.forLookup(lookup) })
  }

  /// Returns the body for a file, which can be resumed after an interruption.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - lookup: The terms of the get.
  ///   - revision: The revision of the download in the order of all writes.
  ///   - byteLimit: The greatest size of the file in bytes.
  ///   - strategy: The way to request the body; nil for the one that suits the transport.
  /// - Throws: ``LostResumePoint`` if the body was requested in ranges and can't be continued; what
  ///   ``Signal/answers()`` turns into an answer if the file that the get asks about is current.
  func download(
    _ key: Key, _ lookup: Lookup, _ revision: Revision, byteLimit: Int,
    _ strategy: DownloadStrategy?
  ) -> Download {
    let canWait = transfers.transport.capabilities.appliesBackpressure
    let suited = canWait ? DownloadStrategy.atOnce : .inRanges
    return transfers.download(
      asking(key, lookup), strategy ?? suited, revision, byteLimit: byteLimit)
  }

  /// Removes the incomplete bodies of interrupted transfers at a `removeAll`, after which gets
  /// share no earlier transfer of an ``HTTPCache``; nothing else is stored here.
  public func apply(_ change: Change<Key, Data>) -> Signal<Void> {
    guard case .removeAll(let revision) = change else { return change.ignored }
    cache?.leaveTransfers()
    return transfers.partials?.removeAll(revision) ?? .just(())
  }
}

extension HTTPSource where Key == URL {
  /// Creates a source whose keys are URLs.
  ///
  /// - Parameters:
  ///   - transport: The transport; by default a `URLSession` of this source's own.
  ///   - limits: The limits on the time and size of an answer.
  ///   - authorization: The credentials, sent only to the origins that they are for.
  ///   - partials: The store for incomplete bodies, so that interrupted transfers can be resumed.
  ///   - clock: The clock for the time limits.
  public init(
    transport: any HTTPTransport = URLSessionTransport(), limits: HTTPLimits = .standard,
    authorization: HTTPAuthorization? = nil, resuming partials: PartialTransfers? = nil,
    clock: some Clock<Duration> = ContinuousClock()
  ) {
    self.init(
      transport: transport, limits: limits, authorization: authorization, resuming: partials,
      clock: clock, making: { .just(HTTPRequest(url: $0)) })
  }
}
