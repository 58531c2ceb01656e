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
  }
}

extension ResourceState {
  static var unknown: ResourceState {
    ResourceState(value: nil, age: nil, provenance: nil, isLoading: false, error: nil)
  }

  /// What is known after some news, where `now` is what is the case by now.
  func after(_ news: RememberedNews<Value>?, _ now: ResourceFacts<Value>) -> ResourceState {
    let (fallback, provenance): (Stamped<Value>?, Provenance?) =
      switch news {
      case .fetched(let stamped): (stamped, .fetched)
      case .kept(let stamped): (stamped, self.provenance ?? .kept)
      case .set(let value): (Stamped(value), .set)
      case .removed: (nil, nil)
      case .begun, .ended, nil:
        (value.map { Stamped($0, age: age ?? .zero) }, self.provenance ?? .kept)
      }
    // What news there was may be old by now; what is kept is not.
    let value = now.kept ?? fallback
    return ResourceState(
      value: value?.value, age: value?.age, provenance: value == nil ? nil : provenance ?? .kept,
      isLoading: now.isLoading, error: now.error)
  }
}

/// What is the case for a key.
struct ResourceFacts<Value: Sendable>: Sendable {
  let kept: Stamped<Value>?
  let isLoading: Bool
  let error: (any Error)?
}
