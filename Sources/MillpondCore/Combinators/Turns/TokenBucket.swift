/// When the next token is there, by arithmetic instead of by filling: the bucket knows the time at
/// which it would be full.
///
/// - Source: the generic cell rate algorithm, ITU-T I.371.
struct TokenBucket: Sendable {
  /// How long it takes until one more token is there.
  private let interval: Duration

  /// How long it takes until all but one are.
  private let slack: Duration
  private var fullAt = Duration.zero

  /// Numbers that make no sense are taken as the nearest that do, and nothing overflows.
  init(count: Int, period: Duration, burst: Int) {
    let period = min(max(.zero, period), Self.longestPeriod)
    interval = period / max(1, count)
    slack = interval * (min(max(1, burst), Self.largestBurst) - 1)
  }

  /// How long it takes until a token is there; zero or less if one is.
  func wait(at now: Duration) -> Duration {
    fullAt - now - slack
  }

  /// Takes a token that is there.
  mutating func take(at now: Duration) {
    fullAt = max(fullAt, now) + interval
  }

  private static var longestPeriod: Duration { .seconds(100 * 366 * 86_400) }
  private static var largestBurst: Int { 1_000_000_000 }
}
