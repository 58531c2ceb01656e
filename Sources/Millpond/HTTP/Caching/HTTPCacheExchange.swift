import Foundation
import MillpondCore
import MillpondSignals

/// One request through an HTTP cache: the lookup, the decision and the answer.
final class HTTPCacheExchange: Sendable {
  private let core: HTTPCacheCore
  private let request: HTTPRequest
  private let parsed: ParsedRequest
  private let key: String
  private let token: FillToken
  private let downstream: Observer<HTTPPart>
  private let lifetime: Lifetime
  private let hasMissed = SerialState(false)

  init(
    _ core: HTTPCacheCore, _ request: HTTPRequest, _ downstream: Observer<HTTPPart>,
    _ lifetime: Lifetime
  ) {
    self.core = core
    self.request = request
    self.downstream = downstream
    self.lifetime = lifetime
    parsed = ParsedRequest(request, core.transfers.store.hashKey)
    token = FillToken(isReload: parsed.isReload)
    key = request.url.cacheKey
  }

  func start() {
    if let heads = core.transfers.store.headsNow(key) { return decide(heads) }
    core.transfers.store.heads(key).run(
      Observer(next: { self.decide($0) }, other: { _ in }), lifetime.child())
  }

  private func decide(_ heads: [StoredResponse]) {
    if lifetime.isEnded { return }
    let selected = heads.selected(by: parsed)
    let now = core.transfers.wallTime()
    let decision = core.transfers.decision(for: parsed, stored: selected, at: now)
    core.transfers.report(request, decision)
    switch (decision.action, selected) {
    case (.answer, let stored?): answer(with: stored, now)
    case (.answerAndRefresh, let stored?):
      // A part of the body, or an answer to a condition, would not be stored.
      answer(with: stored, now, refreshes: parsed.isShareable)
    case (.answerNotModified, let stored?):
      var head = HTTPHead(status: 304, headers: stored.headers)
      head.stateStored(age: stored.age(at: now), false)
      finish(head)
    case (.refuse, _): finish(HTTPHead(status: 504))
    case (.validate, _), (.complete, _): share(selected)
    default:
      // What is stored for other fields or credentials says nothing about this request.
      let matching = selected.flatMap { $0.matches(parsed) ? $0 : nil }
      let others = decision.reason == .otherVariant ? heads.others(for: parsed) : []
      parsed.isShareable ? share(matching, others) : passThrough(matching)
    }
  }

  // MARK: Answers of the store

  /// - Parameter refreshes: Whether the origin is asked for a newer response afterwards.
  private func answer(
    with stored: StoredResponse, _ now: WallTime, wasAsked: Bool = false, refreshes: Bool = false
  ) {
    let part = stored.part(for: parsed) ?? .whole
    if parsed.method == "HEAD" || part == .none {
      return send(stored, part, Data(), now, wasAsked, refreshes)
    }
    if let body = core.transfers.store.bodyNow(of: stored) {
      return send(stored, part, body, now, wasAsked, refreshes)
    }
    core.transfers.store.body(of: stored).run(
      Observer(
        next: { body in
          guard let body else { return self.missBody(of: stored) }
          self.send(stored, part, body, now, wasAsked, refreshes)
        }, other: { _ in }), lifetime.child())
  }

  private func send(
    _ stored: StoredResponse, _ part: StoredResponse.Part, _ body: Data, _ now: WallTime,
    _ wasAsked: Bool, _ refreshes: Bool
  ) {
    if lifetime.isEnded { return }
    var head: HTTPHead
    var bytes = body
    switch part {
    case .whole: head = HTTPHead(status: stored.status, headers: stored.headers)
    case .bytes(let range):
      head = stored.head(of: range)
      bytes = body[body.startIndex + range.lowerBound..<body.startIndex + range.upperBound]
    case .none:
      head = HTTPHead(
        status: 416, headers: ["Content-Range": "bytes */\(stored.body.byteCount)"])
    }
    head.lifetime = core.transfers.rules.lifetime(of: stored, at: now)
    // RFC 9111 §4: an answer that was not validated states its age.
    head.stateStored(age: stored.age(at: now), wasAsked)
    downstream.next(.head(head))
    if !bytes.isEmpty, !lifetime.isEnded { downstream.next(.body(bytes)) }
    if !lifetime.isEnded { downstream.completed() }
    // Not before: the newer answer may remove the body, which the caller then would miss.
    if refreshes { core.refresh(question(stored)) }
  }

  private func finish(_ head: HTTPHead) {
    downstream.next(.head(head))
    if !lifetime.isEnded { downstream.completed() }
  }

  /// The body is not there any more: a newer response has replaced it, about which is decided once,
  /// or it has been evicted, so there is nothing stored.
  private func missBody(of stored: StoredResponse) {
    if lifetime.isEnded { return }
    core.transfers.store.heads(key).run(
      Observer(
        next: { heads in
          if self.lifetime.isEnded { return }
          let isReplaced = heads.selected(by: self.parsed).map { $0.body != stored.body } ?? false
          if isReplaced, !exchange(&self.hasMissed.value, with: true) { return self.decide(heads) }
          if self.parsed.directives.has(.onlyIfCached) { return self.finish(HTTPHead(status: 504)) }
          // Not shared: a flight that has just confirmed the response may still be there.
          self.goAlone()
        }, other: { _ in }), lifetime.child())
  }

  // MARK: Answers of the origin

  /// Shares a transfer with all callers of the same request.
  ///
  /// A request that states `no-cache` itself has its own transfer, since the origin may have answered
  /// an earlier one before it. A get whose freshness admits no stored value may join one.
  private func share(_ stored: StoredResponse?, _ others: [StoredResponse] = []) {
    let isReload = parsed.directives.has(.noCache) && request.lookup.freshness.admitsStored
    let lookup = isReload ? request.lookup.with(.reload) : request.lookup
    follow(core.sharedTransfers.answers(question(stored, others), lookup))
  }

  private func question(
    _ stored: StoredResponse?, _ others: [StoredResponse] = []
  ) -> OriginRequest {
    OriginRequest(request, parsed, key, stored, others: others, token)
  }

  private func follow(_ steps: Signal<Answer<TransferStep>>) {
    let upstream = lifetime.child()
    let position = SerialState(0)
    steps.run(
      Observer(
        next: { answer in
          guard case .value(let step) = answer, !upstream.isEnded else { return }
          self.receive(step.value, position, upstream)
        },
        other: { event in if !upstream.isEnded { self.downstream.other(event) } }),
      upstream)
  }

  private func receive(_ step: TransferStep, _ position: SerialState<Int>, _ upstream: Lifetime) {
    switch step {
    case .stored(let stored):
      upstream.end()
      answer(with: stored, core.transfers.wallTime(), wasAsked: true)
    case .part(let part, let number, let log):
      let first = position.value
      if number < first { return }
      if first == 0, !log.claim() { return goAlone(leaving: upstream) }
      if number == first {
        position.value = number + 1
        return downstream.next(part)
      }
      guard let missed = log.parts(first..<number + 1) else { return goAlone(leaving: upstream) }
      position.value = number + 1
      for part in missed where !upstream.isEnded { downstream.next(part) }
    }
  }

  /// Sends a request of its own, since the shared answer can't be had from its beginning.
  private func goAlone(leaving upstream: Lifetime? = nil) {
    upstream?.end()
    follow(core.transfers.answers(question(nil), request.lookup))
  }

  /// Sends a request that is neither stored nor shared, and learns from its answer.
  private func passThrough(_ stored: StoredResponse?) {
    let sent = core.transfers.wallTime()
    var request = request
    request.isStreamed = false
    core.transfers.base.send(request).run(
      downstream.replacingNext { part in
        guard case .head(var head) = part, !head.isInterim else {
          return self.downstream.next(part)
        }
        let now = self.core.transfers.wallTime()
        self.learn(head, stored, sent, now)
        head.lifetime = self.core.transfers.lifetime(
          of: head, to: self.parsed, sent: sent, at: now)
        self.downstream.next(.head(head))
      }, lifetime)
  }

  private func learn(
    _ head: HTTPHead, _ stored: StoredResponse?, _ sent: WallTime, _ now: WallTime
  ) {
    for url in core.transfers.rules.invalidated(by: parsed, request.url, head) {
      core.invalidate(url.cacheKey)
    }
    guard let stored, parsed.isAnswerable else { return }
    core.transfers.store.learn(
      from: head, about: stored,
      AnsweredRequest(key: key, request: parsed, token: token, sent: sent, arrived: now))
  }
}

extension ParsedRequest {
  /// Whether the answer can be stored and shared: not if it depends on a condition or a range.
  fileprivate var isShareable: Bool {
    method == "GET" && !isConditional && !hasOriginCondition && range == nil
  }
}

extension HTTPHead {
  /// States that this is the head of a stored response, and its age.
  fileprivate mutating func stateStored(age: Int64?, _ wasAsked: Bool) {
    if let age { headers.set("\(age / 1_000_000)", for: "Age") }
    headers.append(
      wasAsked ? StoredAnswer.afterQuestion : StoredAnswer.hit, for: StoredAnswer.field)
  }
}
