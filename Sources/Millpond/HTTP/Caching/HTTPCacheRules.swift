public import Foundation
import MillpondCore

/// The rules of a private HTTP cache: pure decisions about a request, a stored response and a time.
///
///     let rules = HTTPCacheRules()
///     rules.decision(for: request, stored: response, at: .now)  // and why
///     rules.storage(of: head, for: request)
///
/// - Complexity: O(*n*) in the fields of the request; the fields of a stored response are parsed
///   when it is created.
/// - Source: RFC 9110, RFC 9111, RFC 5861, RFC 8246.
public struct HTTPCacheRules: Sendable {
  /// The rules with their standard settings.
  public static let standard = HTTPCacheRules()

  /// The longest freshness that is estimated for a response whose origin states none.
  ///
  /// The estimate is a tenth of the time since the last change.
  public let heuristicLimit: Duration

  /// The staleness up to which a response is used if the origin can't be reached and neither the
  /// response nor the request has `stale-if-error`.
  public let staleIfUnreachable: Duration

  private let heuristicMicroseconds: Int64
  private let unreachableMicroseconds: Int64

  /// Creates rules.
  ///
  /// - Parameters:
  ///   - heuristicLimit: The longest freshness that is estimated; with zero or less none is.
  ///   - staleIfUnreachable: The staleness up to which a response is used if the origin can't be
  ///     reached; with zero or less only `stale-if-error` allows it.
  public init(
    heuristicLimit: Duration = .seconds(86_400), staleIfUnreachable: Duration = .zero
  ) {
    self.heuristicLimit = max(.zero, heuristicLimit)
    self.staleIfUnreachable = max(.zero, staleIfUnreachable)
    heuristicMicroseconds = self.heuristicLimit.wholeMicroseconds
    unreachableMicroseconds = self.staleIfUnreachable.wholeMicroseconds
  }
}

// MARK: Reuse

extension HTTPCacheRules {
  /// Returns the decision about a request.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - stored: The response that is stored for its URL, if any.
  ///   - now: The time.
  public func decision(
    for request: HTTPRequest, stored: StoredResponse?, at now: Date
  ) -> HTTPCacheDecision {
    decision(for: ParsedRequest(request), stored: stored, at: WallTime(now))
  }

  func decision(
    for request: ParsedRequest, stored: StoredResponse?, at now: WallTime
  ) -> HTTPCacheDecision {
    guard request.isAnswerable else { return .init(.forward, .method) }
    if request.hasOriginCondition { return request.toOrigin(.originCondition) }
    guard let stored else { return request.toOrigin(.nothingStored) }
    guard stored.isForCaller(of: request) else { return request.toOrigin(.otherCredentials) }
    guard stored.variant.isSelected(by: request) else { return request.toOrigin(.otherVariant) }
    guard stored.body.isWhole else { return request.toOrigin(.incomplete, about: stored) }
    let state = FreshnessState(stored, at: now, heuristicMicroseconds)
    let verdict = reuse(request, stored, state)
    guard verdict.isUsable else {
      return request.toOrigin(verdict.reason, about: stored, state)
    }
    let asksOrigin =
      verdict.reason == .staleWhileRevalidate && !request.directives.has(.onlyIfCached)
    let action = asksOrigin ? HTTPCacheDecision.Action.answerAndRefresh : .answer
    return request.answered(
      .init(action, verdict.reason, age: state.age, freshFor: state.freshFor), by: stored)
  }

  /// Returns the decision about a stored response after the origin failed to answer a request.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - stored: The response that is stored for its URL.
  ///   - status: The status of the origin's answer; nil if there was none.
  ///   - now: The time.
  /// - Returns: An answer, or `forward`: the failure or the error is passed on.
  public func decision(
    for request: HTTPRequest, stored: StoredResponse, afterFailure status: Int?, at now: Date
  ) -> HTTPCacheDecision {
    decision(
      for: ParsedRequest(request), stored: stored, afterFailure: status, at: WallTime(now))
  }

  func decision(
    for request: ParsedRequest, stored: StoredResponse, afterFailure status: Int?, at now: WallTime
  ) -> HTTPCacheDecision {
    if !stored.body.isWhole { return .init(.forward, .incomplete) }
    let state = FreshnessState(stored, at: now, heuristicMicroseconds)
    let directives = stored.parsed.directives
    if directives.has(.noCache) { return .init(.forward, .responseNoCache) }
    if request.directives.has(.noCache) { return .init(.forward, .requestNoCache) }
    guard let staleness = state.staleness else { return .init(.forward, .unknownAge) }
    if directives.has(.mustRevalidate), staleness >= 0 { return .init(.forward, .mustRevalidate) }
    guard status.map({ StatusMeaning.admitsStale($0) }) ?? true else {
      return .init(.forward, .stale)
    }
    if let age = state.microseconds, !request.admits(age: age) {
      return .init(.forward, .olderThanAccepted)
    }
    let limits = [directives.staleIfError, request.directives.staleIfError].compactMap(\.limit)
    var reason: HTTPCacheReason?
    if let limit = limits.max(), staleness <= limit { reason = .staleIfError }
    if reason == nil, status == nil, limits.isEmpty, staleness <= unreachableMicroseconds,
      unreachableMicroseconds > 0
    {
      reason = .unreachable
    }
    guard let reason else { return .init(.forward, .stale) }
    return request.answered(
      .init(.answer, reason, age: state.age, freshFor: state.freshFor), by: stored)
  }

  /// Returns the age of a stored response, and the time for which it is still fresh.
  func lifetime(of stored: StoredResponse, at now: WallTime) -> ResponseLifetime {
    let state = FreshnessState(stored, at: now, heuristicMicroseconds)
    let rest = stored.parsed.directives.has(.noCache) ? .zero : state.freshFor ?? .zero
    return ResponseLifetime(age: state.age ?? WallTime.greatestAge, rest: max(.zero, rest))
  }

  private func reuse(
    _ request: ParsedRequest, _ stored: StoredResponse, _ state: FreshnessState
  ) -> (isUsable: Bool, reason: HTTPCacheReason) {
    let wish = request.directives
    let directives = stored.parsed.directives
    if wish.has(.noCache) { return (false, .requestNoCache) }
    if directives.has(.noCache) { return (false, .responseNoCache) }
    guard let age = state.microseconds, let staleness = state.staleness else {
      return (false, .unknownAge)
    }
    if staleness < 0 {
      let reserve = wish.minFresh.reserve
      if reserve > 0, -staleness < reserve { return (false, .notFreshLongEnough) }
      if directives.has(.immutable) { return (true, .immutable) }
      return request.admits(age: age) ? (true, .fresh) : (false, .olderThanAccepted)
    }
    if directives.has(.mustRevalidate) { return (false, .mustRevalidate) }
    if !request.admits(age: age) { return (false, .olderThanAccepted) }
    if wish.minFresh != .absent { return (false, .notFreshLongEnough) }
    if let limit = wish.maxStale.limit, staleness <= limit { return (true, .staleAccepted) }
    // RFC 9111 §5.2.1.1: a request with max-age does not want a stale response.
    if let limit = directives.staleWhileRevalidate.limit, staleness <= limit, limit > 0,
      !request.limitsAge, wish.maxStale == .absent
    {
      return (true, .staleWhileRevalidate)
    }
    return (false, .stale)
  }
}

extension ParsedRequest {
  /// Whether the request accepts an age, in microseconds.
  fileprivate func admits(age: Int64) -> Bool {
    let isWithinLimit =
      switch directives.maxAge {
      case .absent: true
      case .exactly(let seconds): age <= Int64(seconds) * 1_000_000
      case .unclear: age <= 0
      }
    return isWithinLimit && freshness.admits(age: .microseconds(age))
  }

  fileprivate var limitsAge: Bool { directives.maxAge != .absent || freshness != .any }

  /// The decision to ask the origin, or to refuse if the request forbids that.
  fileprivate func toOrigin(
    _ reason: HTTPCacheReason, about stored: StoredResponse? = nil, _ state: FreshnessState? = nil
  ) -> HTTPCacheDecision {
    if directives.has(.onlyIfCached) { return .init(.refuse, .onlyIfCached) }
    var action = HTTPCacheDecision.Action.forward
    if let stored, !isConditional, method == "GET" {
      if !stored.body.isWhole {
        if range == nil, stored.resumePoint != nil { action = .complete }
      } else if stored.parsed.hasValidator, stored.part(for: self) != nil {
        action = .validate
      }
    }
    return .init(action, reason, age: state?.age, freshFor: state?.freshFor)
  }

  /// The decision to answer, or what the condition or the range of the request makes of it.
  fileprivate func answered(
    _ decision: HTTPCacheDecision, by stored: StoredResponse
  ) -> HTTPCacheDecision {
    if isConditional {
      switch stored.evaluates(self) {
      case nil: return toOrigin(.unclearCondition)
      case false?:
        return .init(
          .answerNotModified, .notModified, age: decision.age, freshFor: decision.freshFor)
      case true?: break
      }
    }
    if range != nil, method == "GET", stored.part(for: self) == nil { return toOrigin(.range) }
    return decision
  }
}

extension StatedSeconds {
  /// The microseconds up to which something is allowed; an unclear number allows nothing.
  fileprivate var limit: Int64? {
    if case .exactly(let seconds) = self { Int64(seconds) * 1_000_000 } else { nil }
  }

  /// The microseconds that something has to last; an unclear number stands for all.
  fileprivate var reserve: Int64 {
    switch self {
    case .absent: 0
    case .exactly(let seconds): Int64(seconds) * 1_000_000
    case .unclear: .max
    }
  }
}

extension Duration {
  /// The microseconds, at most ten thousand years of them.
  fileprivate var wholeMicroseconds: Int64 {
    let bounded = min(self, .seconds(10_000 * 366 * 86_400))
    return Int64(clamping: bounded.attoseconds / 1_000_000_000_000)
  }
}
