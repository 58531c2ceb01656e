import Foundation
import MillpondSignals

extension StoredResponse {
  /// The time since the response left its origin, in microseconds; nil if it is unknown, because
  /// the clock has stepped back since.
  ///
  /// - Source: RFC 9111 §4.2.3.
  func age(at now: WallTime) -> Int64? {
    let now = now.clamped
    if responseTime.isAfter(now) { return nil }
    let response = responseTime.microseconds
    let apparent = max(0, response - (parsed.date ?? response))
    let delay = max(0, response - requestTime.microseconds)
    return max(apparent, parsed.statedAge + delay) + max(0, now.microseconds - response)
  }

  /// The age up to which the response is fresh, in microseconds.
  ///
  /// - Source: RFC 9111 §4.2.1; `s-maxage` is for shared caches.
  func freshnessLifetime(heuristicLimit: Int64) -> Int64 {
    switch parsed.directives.maxAge {
    case .exactly(let seconds): return Int64(seconds) * 1_000_000
    case .unclear: return 0
    case .absent: break
    }
    switch parsed.expiry {
    case .exactly(let time): return max(0, Int64(time) * 1_000_000 - origination)
    case .unclear: return 0
    case .absent: return estimatedLifetime(limit: heuristicLimit)
    }
  }

  /// A tenth of the time since the last change.
  ///
  /// - Source: RFC 9111 §4.2.2.
  private func estimatedLifetime(limit: Int64) -> Int64 {
    guard parsed.mayBeEstimated, let change = parsed.lastModified else { return 0 }
    // A date in the future must not make it look unchanged for longer.
    let unchanged = min(origination, responseTime.microseconds) - change
    return min(max(0, unchanged / 10), limit)
  }
}

/// The age and the freshness of a stored response at a time, in microseconds.
struct FreshnessState {
  /// The age; nil if it is unknown.
  let microseconds: Int64?
  let lifetime: Int64

  init(_ stored: StoredResponse, at now: WallTime, _ heuristicLimit: Int64) {
    microseconds = stored.age(at: now)
    lifetime = stored.freshnessLifetime(heuristicLimit: heuristicLimit)
  }

  /// The time since it became stale; negative while it is fresh, nil if the age is unknown.
  var staleness: Int64? { microseconds.map { $0 - lifetime } }

  var age: Duration? { microseconds.map { .microseconds($0) } }
  var freshFor: Duration? { staleness.map { .microseconds(-$0) } }
}
