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

/// The state of a resource as one who watches it has come to know it, and the last write that led to it.
struct WatchedResource<Value: Sendable>: Sendable {
  private(set) var state = ResourceState<Value>(
    value: nil, age: nil, provenance: nil, isLoading: false, error: nil)

  /// The last write in the order of writes.
  private var lastWrite = Revision.none

  /// When that became known: what was asked for before comes too late.
  private var lastArrival = Revision.none

  /// What is known after some news, where `facts` is what is the case by now.
  func after(_ news: RememberedNews<Value>?, _ facts: ResourceFacts<Value>) -> WatchedResource {
    var watched = self
    let known: Stamped<Value>? = watched.receive(news)
    // What news there was may be old by now; what is kept is not.
    let value = facts.kept ?? known
    watched.state = ResourceState(
      value: value?.value, age: value?.age,
      provenance: value == nil ? nil : watched.provenance(after: news),
      isLoading: facts.isLoading, error: facts.error)
    return watched
  }

  /// The value that is known after some news, which may be older than what is known already.
  private mutating func receive(_ news: RememberedNews<Value>?) -> Stamped<Value>? {
    switch news {
    case .fetched(let stamped, let asked), .kept(let stamped, let asked):
      if asked > lastArrival { return stamped }
    case .set(let value, let revision):
      if note(revision) { return Stamped(value) }
    case .removed(let revision):
      if note(revision) { return nil }
    case .begun, .ended, nil: break
    }
    return state.value.map { Stamped($0, age: state.age ?? .zero) }
  }

  /// False if a later write is known.
  private mutating func note(_ revision: Revision) -> Bool {
    guard revision > lastWrite else { return false }
    lastWrite = revision
    lastArrival = .present
    return true
  }

  private func provenance(after news: RememberedNews<Value>?) -> ResourceState<Value>.Provenance {
    switch news {
    case .fetched: .fetched
    case .set: .set
    case .kept, .removed, .begun, .ended, nil: state.provenance ?? .kept
    }
  }
}

/// What is the case for a key.
struct ResourceFacts<Value: Sendable>: Sendable {
  let kept: Stamped<Value>?
  let isLoading: Bool
  let error: (any Error)?
}
