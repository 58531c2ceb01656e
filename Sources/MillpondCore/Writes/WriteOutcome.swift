public import MillpondSignals

/// Functions that combine the outcomes of changes in several layers.
@usableFromInline
package enum WriteOutcome {
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
  @inlinable
  static func any(_ first: Signal<Void>, _ second: Signal<Void>) -> Signal<Void> {
    if first.isDone, second.isDone { return first }
    return first.merge(second).distinct { _, _ in true }.started()
  }

  /// Succeeds when all have succeeded; fails with the first failure when all have ended.
  package static func all(_ outcomes: [Signal<Void>]) -> Signal<Void> {
    if outcomes.isEmpty { return .just(()) }
    return Signal.merge(outcomes.map { $0.settle() }).collect()
      .attemptMap { for result in $0 { try result.get() } }
  }

  @usableFromInline
  static func name(of layer: some Source) -> String {
    layer.topology(for: nil).label
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
        CacheError.partlyStored(key: "\(key)", layer: name(of: layer), underlying: error))
      return layer.apply(.remove(key, revision)).endingWith(failure).recover { _ in failure }
    }.started()
  }
}

extension Signal<Void> {
  /// Whether the outcome is a success already.
  @inlinable
  var isDone: Bool {
    now?() != nil
  }

  /// Waits for this outcome, and continues with `next`; a failure ends it.
  @inlinable
  func endingWith(_ next: Signal<Void>) -> Signal<Void> {
    filter { _ in false }.ifEmpty { next }
  }
}
