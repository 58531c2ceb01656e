import Foundation
import MillpondCore
import MillpondSignals

/// A request to the origin on behalf of an HTTP cache.
///
/// Two with the same name can share one transfer.
final class OriginRequest: Hashable, Sendable, CustomStringConvertible {
  let request: HTTPRequest
  let parsed: ParsedRequest

  /// The key of the URL in the store.
  let key: String

  /// The stored response that matches the request, if there is one.
  let stored: StoredResponse?

  /// Responses of the same URL for other request fields: the origin may name one of them.
  let others: [StoredResponse]

  /// The permission to store the answer, from before the lookup in the store.
  let token: FillToken
  private let name: Fingerprint

  init(
    _ request: HTTPRequest, _ parsed: ParsedRequest, _ key: String, _ stored: StoredResponse?,
    others: [StoredResponse] = [], _ token: FillToken
  ) {
    self.request = request
    self.parsed = parsed
    self.key = key
    self.stored = stored
    self.others = others
    self.token = token
    let fields = [request.headers, request.credentials].flatMap { $0.fields + [("", "")] }
      // With lengths, since a value may contain whatever separates.
      .map { "\($0.name.utf8.count) \($0.name) \($0.value.utf8.count) \($0.value)" }
    name = Fingerprint(of: "\(key) \(fields.joined())")
  }

  static func == (left: OriginRequest, right: OriginRequest) -> Bool { left.name == right.name }
  func hash(into hasher: inout Hasher) { hasher.combine(name) }
  var description: String { request.url.textWithoutSecrets }

  /// The fields that ask about what is stored.
  ///
  /// - Source: RFC 9111 §4.3.1.
  var conditions: [(name: String, value: String)] {
    // A beginning can't be the answer, so a 304 about it would be of no use.
    if let stored { return stored.body.isWhole ? stored.conditions : [] }
    if others.isEmpty { return [] }
    let tags = others.compactMap { $0.parsed.entityTag?.text }
    return [(name: "If-None-Match", value: tags.joined(separator: ", "))]
  }

  /// Returns the stored response that a 304 confirms; nil if it is another version.
  ///
  /// - Source: RFC 9111 §4.3.4.
  func confirmed(by head: HTTPHead) -> StoredResponse? {
    if let stored { return stored.isConfirmed(by: head, isAsked: true) ? stored : nil }
    // Of several, it has to name one.
    guard !head.isRedirected, let tag = EntityTag(of: head.headers) else { return nil }
    return others.first { $0.parsed.entityTag?.isWeaklyEqual(to: tag) == true }
  }
}

/// The transfers from an origin, which validate and store what they bring, and the settings of the
/// cache.
struct OriginTransfers: StampedSource {
  let base: any HTTPTransport
  let store: ResponseStore
  let rules: HTTPCacheRules
  let byteLimit: Int
  let clock: (@Sendable () -> Date)?
  let onDecision: (@Sendable (HTTPRequest, HTTPCacheDecision) -> Void)?

  func wallTime() -> WallTime { clock.map { WallTime($0()) } ?? .now }

  func report(_ request: HTTPRequest, _ decision: HTTPCacheDecision) {
    onDecision?(request, decision)
  }

  func getStamped(_ key: OriginRequest, _ lookup: Lookup) -> Signal<Stamped<TransferStep>> {
    Signal { observer, lifetime in
      OriginTransfer(key, key.request.onBehalf(of: lookup), self, observer, lifetime).start()
    }
  }
}

/// One request to the origin, perhaps repeated without conditions.
private final class OriginTransfer: Sendable {
  private let question: OriginRequest
  private let request: HTTPRequest
  private let transfers: OriginTransfers
  private let downstream: Observer<Stamped<TransferStep>>
  private let lifetime: Lifetime
  private let log: TransferLog
  private let state = SerialState(State())

  private struct State {
    var sent = WallTime(microseconds: 0)
    var head: HTTPHead?

    /// The response to store when its body is whole.
    var storing: StoredResponse?
    var isOver = false
  }

  init(
    _ question: OriginRequest, _ request: HTTPRequest, _ transfers: OriginTransfers,
    _ downstream: Observer<Stamped<TransferStep>>, _ lifetime: Lifetime
  ) {
    self.question = question
    self.request = request
    self.transfers = transfers
    self.downstream = downstream
    self.lifetime = lifetime
    log = TransferLog(byteLimit: transfers.byteLimit)
  }

  func start() {
    guard let stored = question.stored, let point = stored.resumePoint else {
      return send(asking: question.conditions)
    }
    transfers.store.body(of: stored).run(
      Observer(
        next: { beginning in
          if let beginning {
            self.send(self.request.resuming(point), about: .beginning(stored, beginning))
          } else {
            self.send(asking: [])
          }
        }, other: { _ in }), lifetime.child())
  }

  private func send(asking conditions: [(name: String, value: String)]) {
    var request = request
    for field in conditions { request.headers.set(field.value, for: field.name) }
    send(request, about: conditions.isEmpty ? .nothing : .versions)
  }

  /// The statement of a request to the origin about stored responses.
  private enum Question {
    case nothing

    /// Whether one of them is still current.
    case versions

    /// That the rest of this one is wanted, of which these bytes are stored.
    case beginning(StoredResponse, Data)
  }

  private func send(_ request: HTTPRequest, about asked: Question) {
    state.value.sent = transfers.wallTime()
    let upstream = lifetime.child()
    transfers.base.send(request).run(
      Observer(
        next: { part in if !upstream.isEnded { self.receive(part, asked, upstream) } },
        other: { event in if !upstream.isEnded { self.receive(event) } }),
      upstream)
  }

  // MARK: Parts

  private func receive(_ part: HTTPPart, _ asked: Question, _ upstream: Lifetime) {
    if state.value.isOver { return }
    guard case .head(let head) = part, state.value.head == nil else {
      return pass(part)
    }
    if head.isInterim { return }
    switch asked {
    case .nothing: receive(head, isAsked: false, upstream)
    case .versions: receive(head, isAsked: true, upstream)
    case .beginning(let stored, let bytes):
      if let whole = stored.whole(combinedWith: head) {
        receive(whole, isAsked: false, upstream)
        if !upstream.isEnded { pass(.body(bytes)) }
      } else if [206, 304, 416].contains(head.status) {
        // The origin has another version, or does not know.
        upstream.end()
        send(asking: [])
      } else {
        receive(head, isAsked: false, upstream)
      }
    }
  }

  private func receive(_ head: HTTPHead, isAsked: Bool, _ upstream: Lifetime) {
    let now = transfers.wallTime()
    if head.status == 304, isAsked {
      upstream.end()
      if let stored = question.confirmed(by: head) { return confirm(stored, head, now) }
      // The origin confirms another version than the one that it was asked about.
      return send(asking: [])
    }
    if let stored = question.stored, head.status >= 500, let decision = standIn(head.status, now) {
      upstream.end()
      return finish(with: stored, decision)
    }
    if let stored = question.stored, question.parsed.range != nil {
      transfers.store.learn(
        from: head, about: stored, for: question.key, question.parsed,
        requestTime: state.value.sent, responseTime: now, question.token)
    }
    let decision = transfers.rules.storage(of: head, for: question.parsed)
    state.value.head = head
    if decision.action == .store {
      state.value.storing = StoredResponse(
        head, to: question.parsed, requestTime: state.value.sent, responseTime: now)
    }
    let isTooLarge = head.isLarger(than: transfers.byteLimit)
    let isPart = question.parsed.range != nil && decision.action != .store
    if !decision.reason.allowsSharing || isTooLarge || isPart {
      log.keepNothing()
      state.value.storing = nil
    }
    if state.value.storing == nil { removeOutdated(by: head) }
    if let storing = state.value.storing, ResourceVersion(head) != nil {
      log.begin(storing)
      // Also if the last caller leaves.
      lifetime.onEnd { self.keepBeginning() }
    }
    let isRefused = isTooLarge && decision.action == .store
    transfers.report(request, isRefused ? HTTPCacheDecision(.pass, .tooLarge) : decision)
    var head = head
    head.lifetime = lifetime(of: head, now)
    pass(.head(head))
  }

  /// Removes what is stored if the answer shows it to be out of date, but can't be stored.
  private func removeOutdated(by head: HTTPHead) {
    guard question.parsed.isReload || question.stored != nil, question.parsed.range == nil,
      !head.isRedirected,
      (200..<300).contains(head.status) || head.status == 404 || head.status == 410
    else { return }
    transfers.store.remove(for: question.key, question.parsed, question.token).subscribe()
  }

  /// The time for which layers above may keep a new answer.
  private func lifetime(of head: HTTPHead, _ now: WallTime) -> ResponseLifetime? {
    guard (200..<300).contains(head.status) else { return nil }
    guard let stored = state.value.storing else { return .over }
    return transfers.rules.lifetime(of: stored, at: now)
  }

  private func pass(_ part: HTTPPart) {
    let number = log.add(part)
    downstream.next(Stamped(.part(part, number, log)))
  }

  // MARK: Ends

  private func receive(_ event: Event<Never>) {
    if state.value.isOver { return }
    switch event {
    case .progress: downstream.other(event)
    case .failed:
      if state.value.head == nil, let stored = question.stored,
        let decision = standIn(nil, transfers.wallTime())
      {
        return finish(with: stored, decision)
      }
      end(event)
    case .completed: storeWhole()
    }
  }

  private func end(_ event: Event<Never>) {
    state.value.isOver = true
    keepBeginning()
    downstream.other(event)
  }

  /// Stores what has arrived of a response that broke off, so that the rest can be requested later.
  private func keepBeginning() {
    guard let (response, body) = log.takeBeginning() else { return }
    let beginning = response.with(StoredBody(byteCount: body.count, isWhole: false))
    guard let point = beginning.resumePoint, point.byteCount < point.version.total ?? .max else {
      return
    }
    transfers.report(request, HTTPCacheDecision(.store, .incomplete))
    let token = question.token.refusingNone
    transfers.store.store(beginning, body, for: question.key, question.parsed, token).subscribe()
  }

  private func finish(with stored: StoredResponse, _ decision: HTTPCacheDecision) {
    state.value.isOver = true
    transfers.report(request, decision)
    downstream.next(Stamped(.stored(stored)))
    if !lifetime.isEnded { downstream.completed() }
  }

  private func standIn(_ status: Int?, _ now: WallTime) -> HTTPCacheDecision? {
    guard let stored = question.stored else { return nil }
    let decision = transfers.rules.decision(
      for: question.parsed, stored: stored, afterFailure: status, at: now)
    return decision.isAnswer ? decision : nil
  }

  /// Stores the new fields of a confirmed response, and answers with it.
  ///
  /// A request with `no-store` stores nothing, and one that asked about responses for other requests
  /// removes nothing.
  private func confirm(_ stored: StoredResponse, _ head: HTTPHead, _ now: WallTime) {
    state.value.isOver = true
    let updated = stored.updated(
      by: head, for: question.parsed, requestTime: state.value.sent, responseTime: now)
    let decision = HTTPCacheDecision(.answer, .confirmed, age: .zero, freshFor: .zero)
    transfers.report(request, decision)
    let answer = Stamped(TransferStep.stored(updated ?? stored))
    let (store, key, token) = (transfers.store, question.key, question.token)
    let isOther = question.stored == nil
    let isKept = updated?.isStorable == true
    if isKept, let updated, !question.parsed.directives.has(.noStore) {
      let change =
        isOther
        ? store.add(updated, for: key, question.parsed, token)
        : store.update(stored, to: updated, for: key, question.parsed, token)
      return change.map { answer }.run(downstream, lifetime)
    }
    // What must not be kept is asked for before it is removed.
    downstream.next(answer)
    // On its own: this transfer is over once all callers have left with the answer.
    if !isKept, !isOther {
      store.update(stored, to: nil, for: key, question.parsed, token).subscribe()
    }
    if !lifetime.isEnded { downstream.completed() }
  }

  private func storeWhole() {
    guard let response = state.value.storing, let head = state.value.head, isWhole(head),
      let body = log.body
    else {
      // The body was too large.
      if state.value.storing != nil, let head = state.value.head, isWhole(head) {
        removeOutdated(by: head)
      }
      return end(.completed)
    }
    state.value.isOver = true
    log.endBeginning()
    let whole = response.with(StoredBody(byteCount: body.count, isWhole: true))
    transfers.store.store(whole, body, for: question.key, question.parsed, question.token).run(
      Observer(next: { _ in }, other: { [downstream] in downstream.other($0) }), lifetime)
  }

  private func isWhole(_ head: HTTPHead) -> Bool {
    let count = log.byteCount
    do throws(TransferError) {
      let length = try BodyLength(head)
      try length.check(received: count)
      return length.expected.map { $0 == count } ?? true
    } catch {
      return false
    }
  }
}

extension HTTPCacheReason {
  /// Whether callers that wait for one answer may all have it.
  fileprivate var allowsSharing: Bool {
    switch self {
    case .responseNoStore, .variesOnEverything, .unknownStatus: false
    default: true
    }
  }
}

extension HTTPHead {
  /// Whether the head, or the body by its stated length, is larger than what is stored.
  fileprivate func isLarger(than byteLimit: Int) -> Bool {
    headers.isTooLargeToStore || (try? BodyLength(self))?.expected ?? 0 > byteLimit
  }
}
