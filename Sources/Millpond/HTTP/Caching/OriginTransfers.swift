import Foundation
import MillpondCore
import MillpondSignals

/// The settings of the transfers from an origin, which validate and store what they bring.
final class OriginTransfers: Sendable {
  let base: any HTTPTransport
  let store: ResponseStore
  let rules: HTTPCacheRules
  let byteLimit: Int
  private let clock: (@Sendable () -> Date)?
  private let onDecision: (@Sendable (HTTPRequest, HTTPCacheDecision) -> Void)?
  let pauses = OriginPauses()

  init(
    base: any HTTPTransport, store: ResponseStore, rules: HTTPCacheRules, byteLimit: Int,
    clock: (@Sendable () -> Date)?,
    onDecision: (@Sendable (HTTPRequest, HTTPCacheDecision) -> Void)?
  ) {
    self.base = base
    self.store = store
    self.rules = rules
    self.byteLimit = byteLimit
    self.clock = clock
    self.onDecision = onDecision
  }

  func wallTime() -> WallTime { clock.map { WallTime($0()) } ?? .now }

  func report(_ request: HTTPRequest, _ decision: HTTPCacheDecision) {
    onDecision?(request, decision)
  }

  /// Returns the decision about a request: an origin that has failed is not asked again at once, if
  /// the selected response may be the answer.
  func decision(
    for request: ParsedRequest, stored: StoredResponse?, at now: WallTime
  ) -> HTTPCacheDecision {
    let decision = rules.decision(for: request, stored: stored, at: now)
    if decision.action == .answer { return decision }
    guard let stored, let pause = pauses.pause(of: stored, at: now) else { return decision }
    if decision.action == .answerAndRefresh {
      return HTTPCacheDecision(
        .answer, decision.reason, age: decision.age, freshFor: decision.freshFor)
    }
    guard pause.isStated, request.isAnswerable, !request.hasOriginCondition,
      !decision.isAnswer, stored.matches(request)
    else { return decision }
    let instead = rules.decision(for: request, stored: stored, afterFailure: 503, at: now)
    return instead.isAnswer ? instead : decision
  }

  /// The age of an answer to another method, or to a condition of the caller, and the time for which
  /// layers above may keep it: that of an answer to a plain GET; nil if it is none that they would
  /// keep.
  func lifetime(
    of head: HTTPHead, to request: ParsedRequest, sent: WallTime, at now: WallTime
  ) -> ResponseLifetime? {
    guard (200..<300).contains(head.status) else { return nil }
    // What came by a redirect is kept above, as long as every redirect stands.
    let direct = HTTPHead(status: head.status, headers: head.headers)
    guard rules.storage(of: direct, for: request.asGet).action == .store,
      let response = StoredResponse(head, to: request, requestTime: sent, responseTime: now)
    else { return .over }
    return rules.lifetime(of: response, at: now).limited(to: head.redirection?.lifetime)
  }
}
