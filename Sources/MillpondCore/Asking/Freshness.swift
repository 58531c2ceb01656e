/// Which answers will do.
public enum Freshness: Sendable, Hashable {
  /// Whatever the layers still keep.
  case any

  /// What has left its origin at most so long ago; a layer with something older misses.
  case atMost(Duration)

  /// What a layer keeps, without asking an origin for it: a source that is no ``Cache`` is not asked.
  case cachedOnly

  /// A new answer from the origin, that no layer has kept.
  case reload

  /// Whether a kept value of this age will do.
  @inlinable
  package func admits(age: @autoclosure () -> Duration) -> Bool {
    switch self {
    case .any, .cachedOnly: true
    case .atMost(let limit): age() <= limit
    case .reload: false
    }
  }
}
