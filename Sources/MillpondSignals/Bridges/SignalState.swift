public import Observation

/// The latest value, error and progress of a signal, for a view to observe.
///
///     @State private var profile = SignalState<Profile>()
///     …
///     Text(profile.value?.name ?? "")
///       .onAppear { profile.follow(profiles.get(id)) }
///
/// What the signal has ready when it is followed is there when ``follow(_:)`` returns. The
/// subscription ends with the object. Inside the `onChange` of an observation, which runs before its
/// change is made, following and stopping wait until that is done.
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
  @ObservationIgnored private var steps = Queue<Step>()
  @ObservationIgnored private var isChanging = false

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

  /// One step at a time: each change wakes observers before it is made, and would be made over and
  /// over if what they do in their `onChange` began before it was.
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

  // What does not change is not assigned: each assignment would wake who observes it.

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
