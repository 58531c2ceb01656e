import Foundation
import MillpondCore
import MillpondSignals

extension OriginTransfers: AnsweringSource {
  func answers(_ key: OriginRequest, _ lookup: Lookup) -> Signal<Answer<TransferStep>> {
    Signal { observer, lifetime in
      OriginTransfer(key, key.request.onBehalf(of: lookup), self, observer, lifetime).start()
    }
  }
}

/// One request to the origin, perhaps repeated without conditions.
final class OriginTransfer: Sendable {
  let question: OriginRequest
  let request: HTTPRequest
  let transfers: OriginTransfers
  let downstream: Observer<Answer<TransferStep>>
  let lifetime: Lifetime
  let log: TransferLog
  let state = SerialState(State())

  struct State {
    var sent = WallTime(microseconds: 0)
    var head: HTTPHead?

    /// The parts of a refusal that is to be stored; nil if parts are passed on as they arrive.
    ///
    /// Whoever receives the head of a 404 may leave, so it is passed on once it is stored.
    var withheld: [TransferStep]?
    var isOver = false
  }

  init(
    _ question: OriginRequest, _ request: HTTPRequest, _ transfers: OriginTransfers,
    _ downstream: Observer<Answer<TransferStep>>, _ lifetime: Lifetime
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
      } else if StatusMeaning.asksForWhole(head.status) || head.status == 304 {
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
    if let stored = question.stored { note(head, about: stored, now) }
    if head.status == 304, isAsked {
      upstream.end()
      if let stored = question.confirmed(by: head) { return confirm(stored, head, now) }
      // The origin confirms another version than the one that it was asked about.
      return send(asking: [])
    }
    if let stored = question.stored, StatusMeaning.admitsStale(head.status),
      let decision = standIn(head.status, now)
    {
      upstream.end()
      return finish(with: stored, decision)
    }
    let decision = transfers.rules.storage(of: head, for: question.parsed)
    state.value.head = head
    let isTooLarge = head.isLarger(than: transfers.byteLimit)
    let isPart = question.parsed.range != nil && decision.action != .store
    var storing: StoredResponse?
    if decision.action == .store, !isTooLarge {
      storing = StoredResponse(
        head, to: question.parsed, requestTime: state.value.sent, responseTime: now)
    }
    let isShared =
      storing != nil || transfers.rules.admitsSharing(of: head, for: question.parsed)
    if isTooLarge || isPart || !isShared { log.keepNothing() }
    var head = head
    head.lifetime = transfers.lifetime(
      of: head, to: question.parsed, sent: state.value.sent, at: now)
    if head.lifetime != nil, isTooLarge || isPart { head.lifetime = .over }
    if let storing {
      if !(200..<300).contains(head.status) { state.value.withheld = [] }
      log.begin(storing, decision)
      // Also if the last caller leaves.
      lifetime.onEnd { self.breakOff() }
    } else {
      if let stored = question.stored, question.parsed.range != nil {
        transfers.store.learn(from: head, about: stored, answered(at: now))
      }
      removeOutdated(by: head.status, isRedirected: head.isRedirected)
      // What is stored is reported once it is.
      let isRefused = isTooLarge && decision.action == .store
      transfers.report(request, isRefused ? HTTPCacheDecision(.pass, .tooLarge) : decision)
    }
    pass(.head(head))
  }

  private func pass(_ part: HTTPPart) {
    let step = TransferStep.part(part, log.add(part), log)
    if state.value.withheld != nil, log.byteCount <= transfers.byteLimit {
      state.value.withheld?.append(step)
    } else {
      passWithheld()
      if !lifetime.isEnded { downstream.next(.value(Stamped(step))) }
    }
  }

  func passWithheld() {
    for step in exchange(&state.value.withheld, with: nil) ?? [] where !lifetime.isEnded {
      downstream.next(.value(Stamped(step)))
    }
  }

  /// Notes whether the origin failed, after which it is left alone for a while; without a head, it
  /// did.
  private func note(_ head: HTTPHead?, about stored: StoredResponse, _ now: WallTime) {
    if let head, !StatusMeaning.isTemporary(head.status) {
      transfers.pauses.end(stored)
    } else {
      transfers.pauses.begin(stored, for: head?.headers.retryDelay, at: now)
    }
  }

  // MARK: Ends

  private func receive(_ event: Event<Never>) {
    if state.value.isOver { return }
    switch event {
    case .progress: downstream.other(event)
    case .failed:
      if state.value.head == nil, let stored = question.stored {
        let now = transfers.wallTime()
        note(nil, about: stored, now)
        if let decision = standIn(nil, now) { return finish(with: stored, decision) }
      }
      end(event)
    case .completed: storeWhole()
    }
  }

  func end(_ event: Event<Never>) {
    state.value.isOver = true
    breakOff()
    passWithheld()
    if !lifetime.isEnded { downstream.other(event) }
  }

  private func finish(with stored: StoredResponse, _ decision: HTTPCacheDecision) {
    state.value.isOver = true
    transfers.report(request, decision)
    downstream.next(.value(Stamped(.stored(stored))))
    if !lifetime.isEnded { downstream.completed() }
  }

  private func standIn(_ status: Int?, _ now: WallTime) -> HTTPCacheDecision? {
    guard let stored = question.stored else { return nil }
    let decision = transfers.rules.decision(
      for: question.parsed, stored: stored, afterFailure: status, at: now)
    return decision.isAnswer ? decision : nil
  }
}

extension HTTPHead {
  /// Whether the head, or the body by its stated length, is larger than what is stored.
  fileprivate func isLarger(than byteLimit: Int) -> Bool {
    headers.isTooLargeToStore || (try? BodyLength(self))?.expected ?? 0 > byteLimit
  }
}
