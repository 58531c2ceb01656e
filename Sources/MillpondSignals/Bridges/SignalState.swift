public import Observation

/// The latest value, error and progress of a signal, for a view to observe.
///
///     @State private var profile = SignalState<Profile>()
///     …
///     Text(profile.value?.name ?? "")
///       .onAppear { profile.follow(profiles.get(id)) }
///
/// A value that the signal has ready is visible when ``follow(_:keepingValue:)`` returns. The
/// subscription ends with the object. Calls from inside an observation's `onChange`, which runs
/// before its change is made, take effect after that change.
///
/// When the session of a user ends (`CacheScope.end()`), nothing of it is shown any more: the value
/// is nil, and ``error`` says so. That holds for a signal that runs, and for one that has ended, if
/// a cache of the session was asked inside ``follow(_:keepingValue:)``. A get that was made later,
/// as by a `flatMap` after an answer of another, counts only while the signal runs.
///
/// - Note: Main actor. The signal may send from any thread; the change then takes a hop.
@MainActor
@Observable
public final class SignalState<Value: Sendable> {
  /// The latest value of the signal that is followed.
  ///
  /// It survives the end of the signal and a failure, but not the end of a session.
  public private(set) var value: Value?

  /// The error that the signal failed with; nil again when another signal is followed.
  public private(set) var error: (any Error)?

  /// The latest progress of the running signal; nil after it has ended or was stopped.
  public private(set) var progress: SignalProgress?

  /// Whether the running signal has sent no value yet.
  ///
  /// A signal that never ends is therefore loading until its first value only.
  public private(set) var isLoading = false

  /// Whether the value is that of the signal before.
  @ObservationIgnored private var isFormer = false
  @ObservationIgnored private var viewer: Viewer?
  @ObservationIgnored private var viewing: ScopedDisposable?
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
  ///
  /// - Parameters:
  ///   - signal: The signal to follow.
  ///   - keepingValue: Whether the value of the signal before stays until this one sends its first,
  ///     as suits another signal of the same thing. By default it goes, so that a row that is used
  ///     again doesn't show what it showed before.
  public func follow(_ signal: Signal<Value>, keepingValue: Bool = false) {
    run.dispose()
    let lifetime = Lifetime()
    run = Disposable(lifetime).scoped()
    take(.follow(signal, lifetime, keepsValue: keepingValue))
  }

  /// Disposes of the subscription; the latest value stays.
  public func stop() {
    run.dispose()
    take(.stop)
  }

  /// Disposes of the subscription, and shows nothing.
  public func clear() {
    run.dispose()
    take(.clear(nil))
  }

  private enum Step {
    case follow(Signal<Value>, Lifetime, keepsValue: Bool)
    case receive(Event<Value>, Lifetime)

    /// The signal that was followed has sent what it had ready.
    case followed
    case stop

    /// Nothing is to be shown; the error is the reason, if it was not the owner's wish.
    case clear((any Error)?)
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
      case .follow(let signal, let lifetime, let keepsValue): begin(signal, lifetime, keepsValue)
      case .receive(let event, let lifetime): receive(event, lifetime)
      case .followed: dropFormer()
      case .stop: settle(nil)
      case .clear(let reason):
        run.dispose()
        forget()
        if reason == nil, error != nil { error = nil }
        settle(reason)
      }
    }
    isChanging = false
  }

  // Assigns only real changes, since each assignment wakes the observers of its property.

  private func begin(_ signal: Signal<Value>, _ lifetime: Lifetime, _ keepsValue: Bool) {
    if lifetime.isEnded { return }
    isFormer = value != nil && !keepsValue
    let viewer = keepsValue ? self.viewer ?? newViewer() : newViewer()
    if progress != nil { progress = nil }
    if error != nil { error = nil }
    if !isLoading { isLoading = true }
    viewer.subscribe {
      signal.receive(on: MainActor.shared).run(
        Observer(
          next: { [weak self] value in
            MainActor.assumeIsolated { self?.take(.receive(.next(value), lifetime)) }
          },
          other: { [weak self] event in
            MainActor.assumeIsolated { self?.take(.receive(event.typed(), lifetime)) }
          }), lifetime)
    }
    // After what was ready, so that a value in its place is no change to nothing in between.
    take(.followed)
  }

  /// Returns a viewer for what is shown from now on.
  private func newViewer() -> Viewer {
    let new = Viewer { [weak self] error in self?.take(.clear(error)) }
    (viewer, viewing) = (new, new.handle.scoped())
    return new
  }

  private func dropFormer() {
    if isFormer { value = nil }
    isFormer = false
  }

  private func forget() {
    (viewer, viewing) = (nil, nil)
    isFormer = value != nil
    dropFormer()
  }

  private func receive(_ event: Event<Value>, _ lifetime: Lifetime) {
    if lifetime.isEnded { return }
    if event.isTerminal { lifetime.end() }
    switch event {
    case .next(let new):
      isFormer = false
      value = new
      if isLoading { isLoading = false }
    case .progress(let new): progress = new
    case .failed(let failure): settle(failure)
    case .completed: settle(nil)
    }
  }

  private func settle(_ failure: (any Error)?) {
    if let failure {
      if failure.endsSession { forget() }
      error = failure
    }
    if progress != nil { progress = nil }
    if isLoading { isLoading = false }
  }
}
