public import MillpondSignals

/// The rules for the outcomes of changes in several layers.
///
/// An outcome sends a value when the write has succeeded, or fails.
@usableFromInline
package enum WriteOutcome {
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
    return outcome.recover { error in
      if case CacheError.partlyStored = error { return .fail(error) }
      let failure = Signal<Void>.fail(
        CacheError.partlyStored(
          key: String(withoutSecrets: key), layer: layer.layerLabel, underlying: error))
      return layer.apply(.remove(key, revision)).endingWith(failure).recover { _ in failure }
    }.endingWith(done).started()
  }
}

extension Observer<Void> {
  /// Sends a value and completes.
  package func succeeded() {
    next(())
    completed()
  }
}

extension Promise<Void> {
  /// Returns the outcome of a fill, which sends its value as soon as it is admitted, and none if it
  /// was refused.
  package func outcome(ofFill isAdmitted: Bool) -> Signal<Void> {
    let end = outcome.ignoreValues(as: Void.self)
    return isAdmitted ? end.startWith(()) : end
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
