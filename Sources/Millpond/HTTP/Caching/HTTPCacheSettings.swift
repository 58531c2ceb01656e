import Foundation

/// The settings of an HTTP cache.
struct HTTPCacheSettings: Sendable {
  let rules: HTTPCacheRules
  let byteLimit: Int
  let clock: (@Sendable () -> Date)?
  let onDecision: (@Sendable (HTTPRequest, HTTPCacheDecision) -> Void)?

  func now() -> WallTime { clock.map { WallTime($0()) } ?? .now }

  func report(_ request: HTTPRequest, _ decision: HTTPCacheDecision) {
    onDecision?(request, decision)
  }
}
