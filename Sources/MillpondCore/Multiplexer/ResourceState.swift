/// The state of a resource at one moment.
public struct ResourceState<Value: Sendable>: Sendable {
  /// The stored value; nil if there is none, or if none is known.
  public let value: Value?

  /// The time since the value left its origin.
  public let age: Duration?

  /// The provenance of the value.
  public let provenance: Provenance?

  /// Whether the resource is being fetched.
  public let isLoading: Bool

  /// The failure of the last fetch; nil after a success or a write.
  ///
  /// The value is then the last good one.
  public let error: (any Error)?

  /// The provenance of a value, as far as its key was watched.
  public enum Provenance: Sendable, Hashable {
    /// The origin sent it.
    case fetched

    /// A caller set it.
    case set

    /// It was stored already, in memory or where values outlive the process.
    case kept

    /// Creates the provenance of a value after an event; nil if the event does not determine it.
    init?(_ event: KeyEvent) {
      switch event {
      case .fetched: self = .fetched
      case .set: self = .set
      case .begun, .ended, .kept, .removed, .settled: return nil
      }
    }
  }
}
