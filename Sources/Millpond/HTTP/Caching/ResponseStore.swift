import Foundation
import MillpondCore
import MillpondSignals

/// The stored responses of an HTTP cache, in a cache of records.
///
/// The heads of a URL are one record, and each body is another, so that a 304 changes a few hundred
/// bytes. A body is stored before the head that names it; a head whose body is missing or of
/// another length counts as absent.
struct ResponseStore: Sendable {
  let records: any Cache<String, HTTPCacheRecord>

  /// The memory cache on top of the records, which hits ask directly.
  private let memory: MemoryCache<String, HTTPCacheRecord>?

  init(records: any Cache<String, HTTPCacheRecord>) {
    self.records = records
    memory = (records as? any MemoryFronted<String, HTTPCacheRecord>)?.frontMemory
  }

  /// The greatest number of variants of a URL; of more, the oldest are dropped.
  static let variantLimit = 16

  // MARK: Gets

  /// Returns the stored responses of a URL if they are known immediately.
  func headsNow(_ key: String) -> [StoredResponse]? {
    now(Self.place(ofHeads: key))?.heads
  }

  private func now(_ place: String) -> HTTPCacheRecord? {
    if let memory { memory.now(place, Lookup()) } else { records.now(place, Lookup()) }
  }

  /// Returns the stored responses of a URL; none if the store fails.
  func heads(_ key: String) -> Signal<[StoredResponse]> {
    find(Self.place(ofHeads: key)).map { $0?.heads ?? [] }
  }

  /// Returns the body of a response; nil if it is not there as a whole.
  func body(of stored: StoredResponse) -> Signal<Data?> {
    if stored.body.byteCount == 0 { return .just(Data()) }
    return find(stored.bodyPlace).map { $0?.whole(stored.body) }
  }

  /// Returns the body of a response if it is available immediately.
  func bodyNow(of stored: StoredResponse) -> Data? {
    if stored.body.byteCount == 0 { return Data() }
    return now(stored.bodyPlace)?.whole(stored.body)
  }

  /// A failure of the store is a miss: the origin still has the response.
  private func find(_ place: String) -> Signal<HTTPCacheRecord?> {
    found(in: records, place)
  }

  private func found(
    in records: some Cache<String, HTTPCacheRecord>, _ place: String
  ) -> Signal<HTTPCacheRecord?> {
    records.get(place, Lookup()).take(1).map { Optional($0) }
      .recover { _ in .just(nil) }.ifEmpty { .just(nil) }
  }

  // MARK: Changes

  /// Stores a response and its body in place of those that the same requests select; one that broke
  /// off not in place of a whole one.
  ///
  /// - Parameter token: The token from before the request was looked up: a write that came since
  ///   then wins, such as an invalidation.
  func store(
    _ response: StoredResponse, _ body: Data, for key: String, _ request: ParsedRequest,
    _ token: FillToken
  ) -> Signal<Void> {
    change(key, token) { heads in
      if !response.body.isWhole, heads.contains(where: { $0.body.isWhole && $0.matches(request) }) {
        return heads
      }
      if response.body.byteCount > 0 {
        fill(response.bodyPlace, .body(body), token)
      }
      return heads.replacing(response, for: request)
    }
  }

  /// Stores the head of a response whose body is stored, for all requests that match `request`.
  func add(
    _ response: StoredResponse, for key: String, _ request: ParsedRequest, _ token: FillToken
  ) -> Signal<Void> {
    change(key, token) { $0.replacing(response, for: request) }
  }

  /// Stores the new head of a response, if that is still there; nil removes it.
  ///
  /// Responses for other requests than `request` that have the same body stay as they are.
  func update(
    _ response: StoredResponse, to updated: StoredResponse?, for key: String,
    _ request: ParsedRequest, _ token: FillToken
  ) -> Signal<Void> {
    change(key, token) { heads in
      heads.compactMap { head in
        // Another update may have changed the fields that select it.
        let isIt = head.variant == response.variant || head.matches(request)
        return isIt && head.body == response.body ? updated : head
      }
    }
  }

  /// Removes the responses that the same requests select.
  func remove(for key: String, _ request: ParsedRequest, _ token: FillToken) -> Signal<Void> {
    change(key, token) { heads in heads.filter { !$0.matches(request) } }
  }

  /// Removes all responses of a URL.
  ///
  /// Bodies that are not known immediately stay until they are evicted; nothing names them.
  func invalidate(_ key: String) {
    for head in headsNow(key) ?? [] { _ = records.remove(head.bodyPlace) }
    _ = records.remove(Self.place(ofHeads: key))
  }

  /// Replaces the heads of a URL, and removes the bodies that none of them names any more.
  ///
  /// - Returns: A signal that completes when gets see the change; it is not waited for the disk.
  private func change(
    _ key: String, _ token: FillToken,
    _ change: @escaping @Sendable ([StoredResponse]) -> [StoredResponse]
  ) -> Signal<Void> {
    present(key).map { before in
      let after = change(before)
      // Of a response that must not be stored, not even the address is.
      if before.isEmpty, after.isEmpty { return }
      fill(Self.place(ofHeads: key), .heads(after), token)
      let kept = Set(before.map(\.body.number)).intersection(after.map(\.body.number))
      removeUnnamed((before + after).filter { !kept.contains($0.body.number) }, key)
    }
  }

  /// Removes those bodies of the responses that no head of the URL names.
  ///
  /// Which ones is known only from the store, which may have refused the last change of the heads.
  private func removeUnnamed(_ responses: [StoredResponse], _ key: String) {
    if responses.isEmpty { return }
    present(key).subscribe(onNext: { heads in
      let named = Set(heads.map(\.body.number))
      for response in responses where !named.contains(response.body.number) {
        _ = records.remove(response.bodyPlace)
      }
    })
  }

  private func present(_ key: String) -> Signal<[StoredResponse]> {
    headsNow(key).map { .just($0) } ?? heads(key)
  }

  private func fill(_ place: String, _ content: HTTPCacheRecord.Content, _ token: FillToken) {
    // The outcome of a fill is started by the store, and not waited for.
    _ = records.apply(.fill(place, Stamped(HTTPCacheRecord(content)), token))
  }

  private static func place(ofHeads key: String) -> String { "heads \(key)" }
}

extension [StoredResponse] {
  /// Returns the responses with this one in place of those that the same request selects.
  fileprivate func replacing(
    _ response: StoredResponse, for request: ParsedRequest
  ) -> [StoredResponse] {
    let kept = filter { !$0.matches(request) }
    return (kept + [response]).suffix(ResponseStore.variantLimit)
  }
}

extension HTTPCacheRecord {
  fileprivate func whole(_ stored: StoredBody) -> Data? {
    guard let body, body.count == stored.byteCount else { return nil }
    return body
  }
}

extension StoredBody {
  /// A body with a number that no other body has.
  init(byteCount: Int, isWhole: Bool) {
    self.init(
      number: Fingerprint(first: .random(in: 1 ... .max), second: .random(in: 1 ... .max)),
      byteCount: byteCount, isWhole: isWhole)
  }
}

extension ResponseStore {
  /// Makes a stored response fresh again, or removes it, if the answer to a request for something
  /// else of its resource shows the version that the origin has now.
  ///
  /// A request with `no-store` makes nothing fresh.
  ///
  /// - Source: RFC 9111 §4.3.4, §4.3.5.
  func learn(
    from head: HTTPHead, about stored: StoredResponse, for key: String, _ request: ParsedRequest,
    requestTime: WallTime, responseTime: WallTime, _ token: FillToken
  ) {
    let isHead = request.method == "HEAD"
    let isSame =
      switch head.status {
      case 304: stored.isConfirmed(by: head, isAsked: false)
      case 200 where isHead: stored.isDescribed(by: head)
      case 206: stored.isOfSameVersion(asPart: head)
      default: false
      }
    if isSame {
      let updated = stored.updated(
        by: head, for: request, requestTime: requestTime, responseTime: responseTime)
      let isKept = updated?.isStorable == true
      if isKept, request.directives.has(.noStore) { return }
      update(stored, to: isKept ? updated : nil, for: key, request, token).subscribe()
    } else if head.showsOtherVersion(than: stored, isHead: isHead) {
      update(stored, to: nil, for: key, request, token).subscribe()
    }
  }
}

extension HTTPHead {
  /// Whether this head proves that the origin has another version now.
  fileprivate func showsOtherVersion(than stored: StoredResponse, isHead: Bool) -> Bool {
    if isRedirected { return false }
    if isHead { return status == 200 }
    guard let tag = EntityTag(of: headers) else { return false }
    if status == 206 { return stored.parsed.entityTag != tag }
    // A body may be compressed on the way, and then has a weak tag.
    return status == 200 && stored.parsed.entityTag?.isWeaklyEqual(to: tag) == false
  }
}
