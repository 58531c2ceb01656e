public import Observation

/// The latest value, error and progress of a signal, for a view to observe.
///
///     @State private var profile = SignalState<Profile>()
///     …
///     Text(profile.value?.name ?? "")
///       .onAppear { profile.follow(profiles.get(id)) }
///
/// A value that the signal has ready is visible when ``follow(_:)`` returns. The subscription ends
/// with the object. Calls of ``follow(_:)`` and ``stop()`` from inside an observation's `onChange`,
/// which runs before its change is made, take effect after that change.
///
/// - Note: Main actor. The signal may send from any thread; the change then takes a hop.
@MainActor
@Observable
public final class SignalState<Value: Sendable> {
  /// The latest value.
  ///
  /// It survives a failure, and a change to another signal until that signal sends its first value.
  public private(set) var value: Value?

  /// The error that the signal failed with; nil again when another signal is followed.
  public private(set) var error: (any Error)?

  /// The latest progress of the running signal; nil after it has ended or was stopped.
  public private(set) var progress: SignalProgress?

  /// Whether the running signal has sent no value yet.
  ///
  /// A signal that never ends is therefore loading until its first value only.
  public private(set) var isLoading = false

  @ObservationIgnored private var run = Disposable().scoped()
  @ObservationIgnored private var steps = Queue<Step>()
  @ObservationIgnored private var isChanging = false

  /// Creates a state that follows no signal yet.
  public init() {}

  /// Creates a state that follows `signal` at once.
  public convenience init(following signal: Signal<Value>) {
    self.init()
    follow(signal)
  }

  /// Subscribes to `signal`, and disposes of the subscription before it.
  public func follow(_ signal: Signal<Value>) {
    run.dispose()
    let lifetime = Lifetime()
    run = Disposable(lifetime).scoped()
    take(.follow(signal, lifetime))
  }

  /// Disposes of the subscription; the latest value stays.
  public func stop() {
    run.dispose()
    take(.stop)
  }

  private enum Step {
    case follow(Signal<Value>, Lifetime)
    case receive(Event<Value>, Lifetime)
    case stop
  }

  /// Takes one step at a time.
  ///
  /// Each change wakes observers before it is made. A step that began inside their `onChange` would
  /// make the same change again and again.
  private func take(_ step: Step) {
    steps.append(step)
    if isChanging { return }
    isChanging = true
    while let step = steps.popFirst() {
      switch step {
      case .follow(let signal, let lifetime): begin(signal, lifetime)
      case .receive(let event, let lifetime): receive(event, lifetime)
      case .stop: settle(nil)
      }
    }
    isChanging = false
  }

  // Assigns only real changes, since each assignment wakes the observers of its property.

  private func begin(_ signal: Signal<Value>, _ lifetime: Lifetime) {
    if lifetime.isEnded { return }
    if progress != nil { progress = nil }
    if error != nil { error = nil }
    if !isLoading { isLoading = true }
    signal.receive(on: MainActor.shared).run(
      Observer(
        next: { [weak self] value in
          MainActor.assumeIsolated { self?.take(.receive(.next(value), lifetime)) }
        },
        other: { [weak self] event in
          MainActor.assumeIsolated { self?.take(.receive(event.typed(), lifetime)) }
        }), lifetime)
  }

  private func receive(_ event: Event<Value>, _ lifetime: Lifetime) {
    if lifetime.isEnded { return }
    if event.isTerminal { lifetime.end() }
    switch event {
    case .next(let new):
      value = new
      if isLoading { isLoading = false }
    case .progress(let new): progress = new
    case .failed(let failure): settle(failure)
    case .completed: settle(nil)
    }
  }

  private func settle(_ failure: (any Error)?) {
    if let failure { error = failure }
    if progress != nil { progress = nil }
    if isLoading { isLoading = false }
  }
}
