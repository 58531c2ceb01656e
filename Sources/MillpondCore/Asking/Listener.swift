package import MillpondSignals

/// Hears what happens to a question on its way down.
@usableFromInline
package final class Listener: Sendable {
  let timeline: Timeline
  let hear: @Sendable (CacheEvent) -> Void

  package init(_ timeline: Timeline, _ hear: @escaping @Sendable (CacheEvent) -> Void) {
    self.timeline = timeline
    self.hear = hear
  }
}

extension Lookup {
  /// Whether anybody wants to hear what happens to the question.
  ///
  /// Free for most questions: they come without details.
  @inlinable
  package var isHeard: Bool {
    details.isHeard
  }

  /// Whether anybody hears, or may come to hear, since a flight may be joined by somebody who does.
  @inlinable
  package var isObservable: Bool {
    details.isObservable
  }

  /// The same question, heard by one more.
  @usableFromInline
  package func heard(by listener: Listener) -> Lookup {
    with { $0.listeners.append(listener) }
  }

  /// Tells those who listen what has happened.
  @usableFromInline
  package func report(
    _ kind: CacheEvent.Kind, layer: String, key: (any Hashable & Sendable)?,
    duration: Duration? = nil
  ) {
    let event = CacheEvent(kind, layer: layer, key: key, duration: duration)
    for listener in details.listeners { listener.hear(event) }
  }

  /// The clock of those who listen, if anybody does.
  @usableFromInline
  package func timeOfListeners() -> Duration? {
    details.timeline?.now()
  }

  /// The same question, on its way to a layer whose answer will be reported.
  func answered(by answer: LayerAnswer) -> Lookup {
    with { $0.answer = answer }
  }

  /// The same question, of which the values are checked before they count as hits.
  @usableFromInline
  func checked(by check: ValueCheck) -> Lookup {
    with { $0.check = check }
  }

  /// Whether a layer that has nothing to give may say why.
  @inlinable
  package var wantsReasons: Bool {
    if case .special(let special) = details { special.wantsReasons } else { false }
  }

  /// Says why the layer that was asked will have no value.
  @usableFromInline
  package func explainMiss(_ reason: CacheEvent.Kind) {
    details.special?.answer?.explainMiss(reason)
  }
}
