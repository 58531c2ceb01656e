public import MillpondSignals

/// The outcome of a write that is under way, for subscribers before and after its end.
///
/// Subscribers that come late miss earlier progress. Disposing of a subscription cancels nothing.
@usableFromInline
package struct WriteOutcome: Sendable {
  fileprivate struct Subscriber: Sendable {
    let observer: Observer<Void>
    let lifetime: Lifetime
  }

  private struct State: Sendable {
    var end: Event<Never>?
    var waiting = Registry<Subscriber>()
  }

  private let state = Locked(State())

  /// Creates the outcome of a write that has just begun.
  @usableFromInline
  package init() {}

  /// A signal that sends a value when the write has succeeded, or fails.
  @usableFromInline
  package var signal: Signal<Void> {
    Signal { [self] observer, lifetime in
      join(Subscriber(observer: observer, lifetime: lifetime))
    }
  }

  /// Returns the signal of a fill, which sends its value as soon as it is admitted, and none if it
  /// was refused.
  package func signal(ofFill isAdmitted: Bool) -> Signal<Void> {
    Signal { [self] observer, lifetime in
      if isAdmitted { observer.next(()) }
      // Only now, since the end may come on another thread.
      join(Subscriber(observer: observer.replacingNext { _ in }, lifetime: lifetime))
    }
  }

  private func join(_ subscriber: Subscriber) {
    let (number, end) = state.withLock { state in
      (state.end == nil ? state.waiting.add(subscriber) : 0, state.end)
    }
    if let end { return subscriber.receive(end) }
    // One that leaves is released then, however long the write takes.
    subscriber.lifetime.onEnd(number) { [state] number in
      state.discard { $0.waiting.remove(number) }
    }
  }

  /// Ends the outcome; only the first call has an effect.
  ///
  /// - Parameter failure: The error of the write; nil if it has succeeded.
  /// - Returns: A closure that calls the subscribers; nil if there are none.
  package func end(_ failure: (any Error)? = nil) -> (@Sendable () -> Void)? {
    let end: Event<Never> = failure.map { Event<Never>.failed($0) } ?? .completed
    let waiting = state.withLock { state -> Registry<Subscriber> in
      guard state.end == nil else { return Registry() }
      state.end = end
      return exchange(&state.waiting, with: Registry())
    }
    if waiting.elements.isEmpty { return nil }
    return { for (_, subscriber) in waiting.numbered { subscriber.receive(end) } }
  }

  /// Ends as another outcome does; a failure is followed by a replacement, if there is one.
  ///
  /// - Parameters:
  ///   - outcome: The other outcome, which is run at once, whether or not this has subscribers.
  ///   - replacement: Returns the outcome to follow after a failure; nil to fail with it.
  @usableFromInline
  func follow(
    _ outcome: Signal<Void>, orElse replacement: @escaping @Sendable (any Error) -> Signal<Void>?
  ) {
    let lifetime = Lifetime()
    let observer = Observer<Void>(next: { _ in }) { event in
      switch event {
      case .progress(let progress): send(progress)
      case .completed:
        lifetime.end()
        end()?()
      case .failed(let error):
        lifetime.end()
        if let next = replacement(error) {
          follow(next) { _ in nil }
        } else {
          end(error)?()
        }
      }
    }
    outcome.run(observer, lifetime)
  }

  private func send(_ progress: SignalProgress) {
    for (_, subscriber) in state.withLock({ $0.waiting }).numbered
    where !subscriber.lifetime.isEnded {
      subscriber.observer.progress(progress)
    }
  }
}

extension WriteOutcome.Subscriber {
  fileprivate func receive(_ end: Event<Never>) {
    if lifetime.isEnded { return }
    if case .completed = end { observer.succeeded() } else { observer.other(end) }
  }
}

extension Observer<Void> {
  /// Sends a value and completes.
  package func succeeded() {
    next(())
    completed()
  }
}

// MARK: - Outcomes of changes in several layers

extension WriteOutcome {
  /// The success that all immediate writes share.
  @usableFromInline static let done = Signal.just(())

  /// Succeeds when both have succeeded; fails with the first one's failure, or else the second
  /// one's.
  @inlinable
  static func both(_ first: Signal<Void>, _ second: Signal<Void>) -> Signal<Void> {
    if first.isDone { return second }
    if second.isDone { return first }
    return first.endingWith(second).started()
  }

  /// Sends a value as soon as one of two fills is admitted; ends with both, or with the first
  /// failure.
  ///
  /// The admission of one is sent also if the other has failed at once.
  @inlinable
  static func any(_ first: Signal<Void>, _ second: Signal<Void>) -> Signal<Void> {
    if first.isDone, second.isDone { return first }
    let both = second.merge(first)
    return (first.isDone ? both.startWith(()) : both).distinct { _, _ in true }.started()
  }

  /// Succeeds when all have succeeded; fails with the first failure when all have ended.
  package static func all(_ outcomes: [Signal<Void>]) -> Signal<Void> {
    if outcomes.isEmpty { return .just(()) }
    return Signal.merge(outcomes.map { $0.settle() }).collect()
      .attemptMap { for result in $0 { try result.get() } }
  }

  /// Returns the outcome of a set in `layer`; if it fails, removes the key there.
  ///
  /// A layer that consists of layers has done so already, and its error says so. Beside an empty
  /// cache there is no other layer to differ from, so that ``EmptyCache`` stays the identity.
  @inlinable
  static func orRemoved<Layer: Source, Other: Source>(
    _ key: Layer.Key, _ revision: Revision, in layer: Layer, _ other: Other,
    _ outcome: Signal<Void>
  ) -> Signal<Void> {
    if outcome.isDone || Other.self == EmptyCache<Layer.Key, Layer.Value>.self { return outcome }
    let whole = WriteOutcome()
    whole.follow(outcome) { error in
      if case CacheError.partlyStored = error { return nil }
      let failure = Signal<Void>.fail(
        CacheError.partlyStored(
          key: String(withoutSecrets: key), layer: layer.layerLabel, underlying: error))
      return layer.apply(.remove(key, revision)).endingWith(failure).recover { _ in failure }
    }
    return whole.signal
  }
}

extension Source {
  /// Removes the stored value of a key in place of a reload's answer, which is newer, but can't be
  /// stored.
  ///
  /// Writes win that are under way, or come later.
  ///
  /// - Returns: The outcome of a fill that is not admitted; it fails if the removal does, unless the
  ///   layer supports no removals.
  @usableFromInline
  func removeOutdated(_ key: Key, _ token: FillToken) -> Signal<Void> {
    guard token.isReload, !token.isRenewal, !token.isEnded, token.revision > .none else {
      return .empty
    }
    let revision = min(token.revision, .present).ofAnswer
    return apply(.remove(key, revision)).ignoreValues(as: Void.self).recover { error in
      if case CacheError.unsupported = error { .empty } else { .fail(error) }
    }
  }
}

extension Signal<Void> {
  /// The outcome of work of a user, which may succeed without a value: an outcome sends one.
  var sendingSuccess: Signal<Void> {
    isDone ? self : ifEmpty { .just(()) }
  }

  /// Whether the outcome is a success already.
  @inlinable
  var isDone: Bool {
    now?() != nil
  }

  /// Waits for this outcome, and continues with `next`; a failure ends it.
  @inlinable
  func endingWith(_ next: Signal<Void>) -> Signal<Void> {
    ignoreValues(as: Void.self).ifEmpty { next }
  }
}
