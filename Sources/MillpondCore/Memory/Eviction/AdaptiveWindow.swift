#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The share of the room that belongs to the window of new entries, steered towards the part in
/// which a unit of room brings more hits.
///
/// - Source: own, measured: `millpond-bench hit-ratio`. The difference between the two densities of
///   hits, as a logarithm, gives direction and length of a step; a step is taken after four times
///   as many gets as there are entries.
@usableFromInline
@frozen
struct AdaptiveWindow: Sendable {
  /// The share, from 0.02 to 0.8.
  @usableFromInline private(set) var share = 0.02

  @usableFromInline var windowHits = 0
  @usableFromInline var mainHits = 0
  @usableFromInline var misses = 0

  @inlinable
  init() {}

  /// Whether there were enough gets for a step.
  @inlinable
  func isDue(entries: Int) -> Bool {
    windowHits &+ mainHits &+ misses >= max(100, entries &* 4)
  }

  /// Takes a step, and resets the counters.
  @usableFromInline
  mutating func steer(windowWeight: Int, mainWeight: Int) {
    defer { (windowHits, mainHits, misses) = (0, 0, 0) }
    if windowHits + mainHits == 0 { return }
    let windowDensity = (Double(windowHits) + 0.5) / max(1, Double(windowWeight))
    let mainDensity = (Double(mainHits) + 0.5) / max(1, Double(mainWeight))
    let lead = log(windowDensity / mainDensity)
    let step = min(0.3, abs(lead) * 0.03)
    share = min(0.8, max(0.02, share + (lead < 0 ? -step : step)))
  }
}
