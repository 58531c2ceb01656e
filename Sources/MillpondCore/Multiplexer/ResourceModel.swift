public import MillpondSignals
public import Observation

/// The value, loading and error of an observed resource, for a view.
///
///     @State private var profile = ResourceModel(showing: profiles.observe(id))
///     …
///     Text(profile.value?.name ?? "")
///       .overlay { if profile.isLoading { ProgressView() } }
///       .refreshable { _ = try? await profiles.refresh(id).value }
///
/// A value in memory is visible when the initializer returns. The observation ends with the object,
/// and with it a fetch for which no other caller waits. A list is a resource whose value is an
/// array: see ``items``. For a list in pages, see ``PagedModel``; for any other signal,
/// `SignalState`.
///
/// - Note: Main actor. The states may come from any thread; the change then takes a hop.
@MainActor
public final class ResourceModel<Value: Sendable>: Observable {
  private let latest: SignalState<ResourceState<Value>>

  /// Creates a model of no resource yet.
  public init() {
    latest = SignalState()
  }

  /// Creates a model that shows `states` from now on.
  public init(showing states: Signal<ResourceState<Value>>) {
    latest = SignalState(following: states)
  }

  /// Shows the states of another resource, and nothing of the old one.
  public func show(_ states: Signal<ResourceState<Value>>) {
    latest.follow(states)
  }

  /// Ends the observation; the latest state stays.
  public func stop() {
    latest.stop()
  }

  /// Ends the observation, and shows nothing.
  public func clear() {
    latest.clear()
  }

  /// The latest state; nil before the first one, and after the end of the session.
  public var state: ResourceState<Value>? { latest.value }

  /// The stored value; nil if there is none.
  public var value: Value? { latest.value?.value }

  /// Whether the resource is being fetched, or its first state is still missing.
  public var isLoading: Bool { latest.value?.isLoading ?? latest.isLoading }

  /// The failure of the last fetch, or of the observation itself; nil after a success.
  public var error: (any Error)? { latest.error ?? latest.value?.error }
}

extension ResourceModel where Value: RangeReplaceableCollection {
  /// The elements of the stored value; empty if there is none.
  public var items: Value { value ?? Value() }
}
