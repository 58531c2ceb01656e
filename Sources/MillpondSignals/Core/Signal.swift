/// A cold recipe for events: each subscription runs it anew.
///
/// The contract in short: any number of values and progress events, then at most one terminal
/// event; never two deliveries at once; silence after disposal.
///
/// - Note: Any thread may subscribe. Events arrive on the thread that sends them, or on one that is
///   delivering at that moment, see <doc:SignalContract> and
///   ``receive(on:limit:)-(DispatchQueue,_)``.
@frozen
public struct Signal<Value: Sendable>: Sendable {
  /// A closure that sends the events of one run to an observer, until the lifetime ends.
  public typealias Start = @Sendable (Observer<Value>, Lifetime) -> Void

  /// Starts a run; nil if ``now`` always answers.
  @usableFromInline package let start: Start?

  /// Returns the value of a run that would send this one value and complete at once.
  ///
  /// It needs neither a lifetime nor an observer. Nil, or a nil result, means that the run has to
  /// be started.
  @usableFromInline package let now: (@Sendable () -> Value?)?

  /// The error that `value` throws when the signal is empty; nil stands for ``SignalError/empty``.
  @usableFromInline package let emptyError: (any Emptiness.Type)?

  /// The parts of a concatenation, merge or deferred signal, so that joining another adds length,
  /// not depth.
  @usableFromInline let parts: SignalParts<Value>?

  /// Creates a signal from `start`, as an operator does.
  ///
  /// Operators rely on promises of `start` that nothing checks: it calls serially, sends nothing
  /// after a terminal event, sends nothing of its own once the lifetime has ended, and ends every
  /// run. It may forward the events of any signal that it runs. ``create(file:line:_:)`` is for
  /// code that cannot promise this, such as a callback API, and costs a few nanoseconds for each
  /// event.
  @inlinable
  public init(_ start: @escaping Start) {
    self.init(start: start, now: nil)
  }

  @inlinable
  package init(
    start: Start?,
    now: (@Sendable () -> Value?)?,
    emptyError: (any Emptiness.Type)? = nil,
    parts: SignalParts<Value>? = nil
  ) {
    self.start = start
    self.now = now
    self.emptyError = emptyError
    self.parts = parts
  }

  /// Runs the signal for an operator: its events go to `observer` until `lifetime` ends.
  @inlinable
  public func run(_ observer: Observer<Value>, _ lifetime: Lifetime) {
    // What made this signal, or makes its value, may have disposed. A start is run even so: it may
    // have something to finish.
    if let value = now?() {
      observer.only(value, lifetime)
    } else {
      start?(observer, lifetime)
    }
  }
}

extension Signal {
  /// Runs the signal and receives its events.
  ///
  /// A signal that has its answer ready delivers it before this returns. Releasing the handle does
  /// not end the subscription.
  ///
  /// - Parameters:
  ///   - onProgress: Receives the progress of the work.
  ///   - onNext: Receives each value.
  ///   - onFailed: Receives the error that ends the signal.
  ///   - onCompleted: Called when the signal completes.
  /// - Returns: The handle that ends the subscription.
  /// - Note: The closures run on the thread that sends, or on one that is delivering at that
  ///   moment; never two at once.
  @inlinable
  @discardableResult
  public func subscribe(
    onProgress: (@Sendable (SignalProgress) -> Void)? = nil,
    onNext: (@Sendable (Value) -> Void)? = nil,
    onFailed: (@Sendable (any Error) -> Void)? = nil,
    onCompleted: (@Sendable () -> Void)? = nil
  ) -> Disposable {
    if let value = now?() {
      onNext?(value)
      onCompleted?()
      return Disposable()
    }
    if onProgress == nil, onFailed == nil, onCompleted == nil { return receive(onNext) }
    let subscription = Subscription(
      onProgress: onProgress, onNext: onNext, onFailed: onFailed, onCompleted: onCompleted)
    start?(subscription.observer, subscription.lifetime)
    return Disposable(subscription.lifetime)
  }

  /// Runs the signal for values alone, which takes less memory than a ``Subscription``.
  @inlinable
  func receive(_ onNext: (@Sendable (Value) -> Void)?) -> Disposable {
    let lifetime = Lifetime()
    var next: @Sendable (Value) -> Void = { _ in }
    if let onNext { next = { if !lifetime.isEnded { onNext($0) } } }
    start?(Observer(next: next) { if $0.isTerminal { lifetime.end() } }, lifetime)
    return Disposable(lifetime)
  }
}

/// The end of the chain, which keeps the grammar and the silence after disposal.
///
/// A handle retains the lifetime only, so captures of the closures are released with the sender.
@usableFromInline
@_fixed_layout
final class Subscription<Value: Sendable>: Sendable {
  @usableFromInline let lifetime = Lifetime()
  @usableFromInline let onProgress: (@Sendable (SignalProgress) -> Void)?
  @usableFromInline let onNext: (@Sendable (Value) -> Void)?
  @usableFromInline let onFailed: (@Sendable (any Error) -> Void)?
  @usableFromInline let onCompleted: (@Sendable () -> Void)?

  @inlinable
  init(
    onProgress: (@Sendable (SignalProgress) -> Void)?,
    onNext: (@Sendable (Value) -> Void)?,
    onFailed: (@Sendable (any Error) -> Void)?,
    onCompleted: (@Sendable () -> Void)?
  ) {
    self.onProgress = onProgress
    self.onNext = onNext
    self.onFailed = onFailed
    self.onCompleted = onCompleted
  }

  @inlinable
  var observer: Observer<Value> {
    Observer(next: { self.next($0) }, other: { self.other($0) })
  }

  @inlinable
  func next(_ value: Value) {
    if !lifetime.isEnded { onNext?(value) }
  }

  @inlinable
  func other(_ event: Event<Never>) {
    switch event {
    case .progress(let progress): if !lifetime.isEnded { onProgress?(progress) }
    case .failed(let error): lifetime.end { onFailed?(error) }
    case .completed: lifetime.end { onCompleted?() }
    }
  }
}

/// The error of an empty signal for callers that need a value.
///
/// A type, not a closure: copying a signal retains its contents, and a type needs no retain.
@usableFromInline
package protocol Emptiness: SendableMetatype {
  static var error: any Error { get }
}

/// The parts of a concatenation, a merge or a deferred signal, as a tree.
///
/// Joining two trees is one step, whichever side grows. All inner nodes of a tree are of one kind:
/// a concatenation of concatenations, or a merge of merges, runs as one; it is longer, not deeper.
///
/// - Complexity: O(1) to join two; O(*n*) for a walk. Constant stack for both, and for the release.
@usableFromInline
@_fixed_layout
package final class SignalParts<Value: Sendable>: @unchecked Sendable {
  // Sendable because only deinit changes a node, when no other reference to it exists.

  @usableFromInline
  package enum Kind: Sendable {
    /// A signal without parts.
    case one(Signal<Value>)

    /// Several signals without parts.
    case several([Signal<Value>])

    /// A signal that is made on demand.
    case deferred(@Sendable () -> Signal<Value>)

    /// The branches, one after the other.
    case concatenated

    /// The branches, all at the same time.
    case merged
  }

  @usableFromInline var kind: Kind
  @usableFromInline var branches: [SignalParts]

  @inlinable
  package init(_ kind: Kind, _ branches: [SignalParts] = []) {
    self.kind = kind
    self.branches = branches
  }

  /// Without help, the release of nested nodes or deferred signals would recurse.
  deinit {
    switch kind {
    case .one, .several: break
    case .deferred: releaseNested(&kind, leaving: .merged)
    case .concatenated, .merged: releaseNested(&branches, leaving: [])
    }
  }
}
