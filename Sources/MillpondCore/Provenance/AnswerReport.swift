public import MillpondSignals

/// The report of a layer's first answer in a flight that is not heard yet, to listeners that join it.
///
/// It costs nothing until the layer answers: neither an object nor a look at the clock.
@usableFromInline
struct AnswerReport: Sendable {
  /// Whether the layer reports its answer itself, or nobody can come to hear it.
  @usableFromInline var isDone: Bool

  /// Whether the question is heard from the beginning.
  @usableFromInline let isHeard: Bool

  /// The report of a layer that is asked now.
  @inlinable
  init(_ lookup: Lookup) {
    isHeard = lookup.isHeard
    isDone = isHeard || !lookup.isObservable
  }

  @inlinable
  mutating func hit(
    _ age: Duration, _ key: some Hashable & Sendable, _ lookup: Lookup,
    as label: @autoclosure () -> String?
  ) {
    if !isDone, lookup.isHeard { send(.hit(age: age), key, lookup, label()) }
  }

  @inlinable
  mutating func ended(
    _ event: Event<Never>, _ key: some Hashable & Sendable, _ lookup: Lookup,
    as label: @autoclosure () -> String?
  ) {
    if isDone || !lookup.isHeard { return }
    switch event {
    case .progress: break
    case .failed(let error): send(.failed(error), key, lookup, label())
    case .completed: send(.miss, key, lookup, label())
    }
  }

  /// The duration is the age of the flight: that of the layer is not measured, and is at most this.
  @usableFromInline
  mutating func send(
    _ kind: CacheEvent.Kind, _ key: some Hashable & Sendable, _ lookup: Lookup, _ label: String?
  ) {
    isDone = true
    guard let label else { return }
    lookup.report(kind, layer: label, key: key, duration: lookup.flight?.age)
  }
}

extension Source {
  /// The answer of a layer; if nobody hears it yet, `report` is sent by the caller.
  @inlinable
  func answer(
    _ key: Key, _ lookup: Lookup, _ report: AnswerReport
  ) -> Signal<Stamped<Value>> {
    report.isHeard ? reportedIfUnnamed(key, lookup) : getStamped(key, lookup)
  }
}
