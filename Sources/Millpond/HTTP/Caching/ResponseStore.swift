import Foundation
import MillpondCore
import MillpondSignals

/// The stored responses of an HTTP cache, in a cache of records.
///
/// The heads of a URL are one record, and each body is another, so that a 304 changes a few hundred
/// bytes. A body is stored before the head that names it; a head whose body is missing or of
/// another length counts as absent. The heads of a URL are changed by one answer after another, so
/// that none loses those of another.
struct ResponseStore: Sendable {
  let records: any Cache<String, HTTPCacheRecord>

  /// The memory cache on top of the records, which hits ask directly.
  private let memory: MemoryCache<String, HTTPCacheRecord>?
  private let turns = KeyTurns<String>()

  /// The key of hashes; empty for none.
  let hashKey: [UInt8]

  init(records: any Cache<String, HTTPCacheRecord>, hashKey: Data? = nil) {
    self.records = records
    self.hashKey = hashKey.map(Array.init) ?? []
    memory = (records as? any MemoryFronted<String, HTTPCacheRecord>)?.frontMemory
  }

  /// The greatest number of variants of a URL; of more, the oldest are dropped.
  static let variantLimit = 16

  // MARK: Gets

  /// Returns the stored responses of a URL if they are known immediately.
  func headsNow(_ key: String) -> [StoredResponse]? {
    now(place(ofHeads: key))?.heads
  }

  private func now(_ place: String) -> HTTPCacheRecord? {
    if let memory { memory.now(place, Lookup()) } else { records.now(place, Lookup()) }
  }

  /// Returns the stored responses of a URL; none if the store fails.
  func heads(_ key: String) -> Signal<[StoredResponse]> {
    find(place(ofHeads: key)).map { $0?.heads ?? [] }
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
  /// off not in place of a whole one, and none in place of one that was requested later.
  func store(_ response: StoredResponse, _ body: Data, _ answered: AnsweredRequest) -> Signal<Void>
  {
    change(answered) { heads in
      let former = heads.filter { $0.matches(answered.request) }
      if former.contains(where: { $0.isLater(than: answered) }) { return nil }
      if !response.body.isWhole, former.contains(where: \.body.isWhole) { return nil }
      if response.body.byteCount > 0 { fill(response.bodyPlace, .body(body), answered.token) }
      return heads.replacing(response, for: answered.request)
    }
  }

  /// Stores the head of a response whose body is stored, for all requests that match that of the
  /// answer.
  func add(_ response: StoredResponse, _ answered: AnsweredRequest) -> Signal<Void> {
    change(answered) { $0.replacing(response, for: answered.request) }
  }

  /// Stores the new head of a response, if that is still there; nil removes it.
  ///
  /// Responses for other requests that have the same body stay as they are.
  func update(
    _ response: StoredResponse, to updated: StoredResponse?, _ answered: AnsweredRequest
  ) -> Signal<Void> {
    let isIt = { @Sendable (head: StoredResponse) in
      // Another update may have changed the fields that select it.
      (head.variant == response.variant || head.matches(answered.request))
        && head.body == response.body && !head.isLater(than: answered)
    }
    guard let updated else { return remove(answered, where: isIt) }
    return change(answered) { heads in heads.map { isIt($0) ? updated : $0 } }
  }

  /// Removes the responses that the same requests select.
  func remove(_ answered: AnsweredRequest) -> Signal<Void> {
    remove(answered) { $0.matches(answered.request) && !$0.isLater(than: answered) }
  }

  /// Removes all responses of a URL.
  ///
  /// Bodies that are not known immediately stay until they are evicted; nothing names them.
  func invalidate(_ key: String) {
    for head in headsNow(key) ?? [] { _ = records.remove(head.bodyPlace) }
    _ = records.remove(place(ofHeads: key))
  }

  /// Replaces the heads of a URL, unless `change` returns nil, and removes the bodies that none of
  /// them names any more.
  ///
  /// - Returns: A signal that completes when gets see the change; it is not waited for the disk.
  private func change(
    _ answered: AnsweredRequest,
    _ change: @escaping @Sendable ([StoredResponse]) -> [StoredResponse]?
  ) -> Signal<Void> {
    turns.inTurn(
      answered.key,
      .deferred {
        present(answered.key).map { before in
          guard let after = change(before) else { return }
          // Of a response that must not be stored, not even the address is.
          if before.isEmpty, after.isEmpty { return }
          fill(place(ofHeads: answered.key), .heads(after), answered.token)
          let kept = Set(before.map(\.body.number)).intersection(after.map(\.body.number))
          removeUnnamed((before + after).filter { !kept.contains($0.body.number) }, answered.key)
        }
      })
  }

  /// Removes heads of a URL, and the bodies that none of them names any more.
  ///
  /// By a write: a fill may be refused, and what must not be stored would stay.
  private func remove(
    _ answered: AnsweredRequest, where isUnwanted: @escaping @Sendable (StoredResponse) -> Bool
  ) -> Signal<Void> {
    turns.inTurn(
      answered.key,
      .deferred {
        // Before the heads are read: a removal of everything that comes after it wins.
        let revision = Revision.next()
        let place = self.place(ofHeads: answered.key)
        return present(answered.key).map { before in
          let after = before.filter { !isUnwanted($0) }
          if after.isEmpty, !before.isEmpty || answered.token.isReload {
            _ = records.apply(.remove(place, revision))
          } else if after.count < before.count {
            _ = records.apply(.set(place, HTTPCacheRecord(.heads(after)), revision))
          }
          removeUnnamed(before.filter(isUnwanted), answered.key)
        }
      })
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

  /// The key of the heads of a URL, in which a hash stands for the query, which may be secret.
  private func place(ofHeads key: String) -> String {
    guard let query = key.firstIndex(of: "?") else { return "heads \(key)" }
    return "heads \(key[...query])\(Fingerprint(hiding: Array(key.utf8), 0, hashKey).text)"
  }
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

/// A request to the origin, and the times of its answer, for which the store changes.
struct AnsweredRequest: Sendable {
  /// The key of the URL.
  let key: String
  let request: ParsedRequest

  /// The token from before the request was looked up: a write that came since then wins, such as an
  /// invalidation.
  let token: FillToken
  let sent: WallTime
  let arrived: WallTime
}

extension StoredResponse {
  /// Whether this is the answer to a later request than the answered one, so that it stays; false if
  /// the clock has stepped back since.
  fileprivate func isLater(than answered: AnsweredRequest) -> Bool {
    requestTime > answered.sent && !requestTime.isAfter(answered.arrived)
  }
}
