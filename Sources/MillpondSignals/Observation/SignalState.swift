public import Observation

/// The latest value, error and progress of a signal, for a view to observe.
///
///     @State private var profile = SignalState<Profile>()
///     …
///     Text(profile.value?.name ?? "")
///       .onAppear { profile.follow(profiles.get(id)) }
///
/// What the signal has ready when it is followed is there when ``follow(_:)`` returns. The
/// subscription ends with the object.
///
/// - Note: Main actor. The signal may send from any thread; then the change takes a hop.
@MainActor
@Observable
public final class SignalState<Value: Sendable> {
  /// The latest value.
  ///
  /// It outlives a failure, and the change to another signal until that sends a value of its own.
  public private(set) var value: Value?

  /// What the signal has failed with; nil again when the next one is followed.
  public private(set) var error: (any Error)?

  /// The latest progress of the running signal; nil when it has ended or was stopped.
  public private(set) var progress: SignalProgress?

  /// Whether an answer is awaited: the running signal has sent no value yet.
  ///
  /// So a signal that never ends is loading until its first value, not for ever.
  public private(set) var isLoading = false

  @ObservationIgnored private var run = Disposable().scoped()

  /// The state of nothing, until a signal is followed.
  public init() {}

  /// The state of `signal`, which is subscribed to at once.
  public convenience init(following signal: Signal<Value>) {
    self.init()
    follow(signal)
  }

  /// Subscribes to `signal` in place of the one before, which is disposed of.
  public func follow(_ signal: Signal<Value>) {
    run.dispose()
    // Known before the signal runs, so that what it runs may already follow another one.
    let lifetime = Lifetime()
    run = Disposable(lifetime).scoped()
    begin()
    signal.receive(on: MainActor.shared).run(
      Observer(
        next: { [weak self] value in MainActor.assumeIsolated { self?.receive(value) } },
        other: { [weak self] event in MainActor.assumeIsolated { self?.receive(event) } }),
      lifetime)
  }

  /// Disposes of the subscription; the latest value stays.
  public func stop() {
    end(nil)
  }

  // What does not change is not assigned: each assignment would wake who observes it.

  private func begin() {
    if progress != nil { progress = nil }
    if error != nil { error = nil }
    if !isLoading { isLoading = true }
  }

  private func receive(_ new: Value) {
    value = new
    if isLoading { isLoading = false }
  }

  private func receive(_ event: Event<Never>) {
    switch event {
    case .progress(let new): progress = new
    case .failed(let failure): end(failure)
    case .completed: end(nil)
    }
  }

  private func end(_ failure: (any Error)?) {
    run.dispose()
    if let failure { error = failure }
    if progress != nil { progress = nil }
    if isLoading { isLoading = false }
  }
}
