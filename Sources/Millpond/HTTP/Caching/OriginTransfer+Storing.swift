import Foundation
import MillpondCore
import MillpondSignals

extension OriginTransfer {
  /// Stores the new fields of a confirmed response, and answers with it.
  ///
  /// A request with `no-store` stores nothing, and one that asked about responses for other requests
  /// removes nothing.
  func confirm(_ stored: StoredResponse, _ head: HTTPHead, _ now: WallTime) {
    state.value.isOver = true
    let answered = answered(at: now)
    let updated = stored.updated(
      by: head, for: question.parsed, requestTime: answered.sent, responseTime: now)
    let decision = HTTPCacheDecision(.answer, .confirmed, age: .zero, freshFor: .zero)
    transfers.report(request, decision)
    let answer = Answer.value(Stamped(TransferStep.stored(updated ?? stored)))
    let store = transfers.store
    let isOther = question.stored == nil
    let isKept = updated?.isStorable == true
    if isKept, let updated, !question.parsed.directives.has(.noStore) {
      let change =
        isOther ? store.add(updated, answered) : store.update(stored, to: updated, answered)
      return change.map { answer }.run(downstream, lifetime)
    }
    // What must not be kept is asked for before it is removed.
    downstream.next(answer)
    // On its own: this transfer is over once all callers have left with the answer.
    if !isKept, !isOther {
      store.update(stored, to: nil, answered).subscribe()
    }
    if !lifetime.isEnded { downstream.completed() }
  }

  func storeWhole() {
    guard let head = state.value.head, isWhole(head),
      let (response, decision) = log.takeBeginning()
    else { return end(.completed) }
    guard let body = log.body else {
      removeOutdated(by: head.status)
      transfers.report(request, HTTPCacheDecision(.pass, .tooLarge))
      return end(.completed)
    }
    state.value.isOver = true
    transfers.report(request, decision)
    let whole = response.with(StoredBody(byteCount: body.count, isWhole: true))
    transfers.store.store(whole, body, answered(at: whole.responseTime)).run(
      Observer(
        next: { _ in },
        other: { event in
          self.passWithheld()
          if !self.lifetime.isEnded { self.downstream.other(event) }
        }), lifetime)
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

  /// Stores what has arrived of a response that broke off, so that the rest can be requested later;
  /// a refusal removes what it shows to be out of date.
  func breakOff() {
    guard let (response, _) = log.takeBeginning() else { return }
    let body = log.body ?? Data()
    let beginning = response.with(StoredBody(byteCount: body.count, isWhole: false))
    let answered = AnsweredRequest(
      key: question.key, request: question.parsed, token: question.token.refusingNone,
      sent: response.requestTime, arrived: response.responseTime)
    if beginning.resumePoint != nil {
      transfers.report(request, HTTPCacheDecision(.store, .incomplete))
      transfers.store.store(beginning, body, answered).subscribe()
      return
    }
    transfers.report(request, HTTPCacheDecision(.pass, .notWhole))
    if StatusMeaning.endsUse(response.status) { transfers.store.remove(answered).subscribe() }
  }

  func answered(at time: WallTime) -> AnsweredRequest {
    AnsweredRequest(
      key: question.key, request: question.parsed, token: question.token, sent: state.value.sent,
      arrived: time)
  }

  /// Removes what is stored if an answer that is not stored shows it to be out of date.
  func removeOutdated(by status: Int, isRedirected: Bool = false) {
    guard question.parsed.isReload || question.stored != nil, !isRedirected,
      (200..<300).contains(status) && question.parsed.range == nil || StatusMeaning.endsUse(status)
    else { return }
    transfers.store.remove(answered(at: transfers.wallTime())).subscribe()
  }
}
