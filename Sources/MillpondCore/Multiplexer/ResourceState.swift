/// What is known of a resource at one moment, all together.
public struct ResourceState<Value: Sendable>: Sendable {
  /// The value that is kept; nil if there is none, or if nothing is known of one.
  public let value: Value?

  /// How long ago it left its origin.
  public let age: Duration?

  /// Where it came from.
  public let provenance: Provenance?

  /// Whether it is being fetched.
  public let isLoading: Bool

  /// Why it could not be had the last time; nil again when it could, or when the value was told.
  ///
  /// The value is the last good one then.
  public let error: (any Error)?

  /// Where a value came from, as far as its key was watched since.
  public enum Provenance: Sendable, Hashable {
    /// From the origin.
    case fetched

    /// From whoever set it.
    case set

    /// It was there already, in memory or where values outlive the process.
    case kept

    /// That of the value after some news; nil if the news does not say.
    init?(_ news: RememberedNews) {
      switch news {
      case .fetched: self = .fetched
      case .set: self = .set
      case .begun, .ended, .kept, .removed, .settled: return nil
      }
    }
  }
}

/// The value that is kept for a key, as the store was found, and where it came from.
struct KeptResource<Value: Sendable>: Sendable {
  /// Nil if nothing is kept.
  let value: Stamped<Value>?

  /// Nil if the news does not say.
  let provenance: ResourceState<Value>.Provenance?

  /// Nothing.
  static var nothing: KeptResource { KeptResource(value: nil, provenance: nil) }

  /// The same, that came from where the value before it did if it is not known otherwise.
  func after(_ former: KeptResource) -> KeptResource {
    KeptResource(
      value: value, provenance: value.map { _ in provenance ?? former.provenance ?? .kept })
  }
}
