public import MillpondSignals

extension Lookup {
  /// Whether the get has listeners.
  ///
  /// Free for most gets, which have no details.
  @inlinable
  package var isHeard: Bool {
    details.isHeard
  }

  /// Whether the get has listeners or may get some, since a caller with a listener may join its
  /// flight.
  @inlinable
  package var isObservable: Bool {
    details.isObservable
  }

  /// Returns a copy with one more listener.
  @usableFromInline
  package func heard(by listener: Listener) -> Lookup {
    with { $0.listeners.append(listener) }
  }

  /// Reports an event to the listeners.
  @usableFromInline
  package func report(
    _ kind: CacheEvent.Kind, layer: String, key: (any Hashable & Sendable)?,
    duration: Duration? = nil
  ) {
    let event = CacheEvent(kind, layer: layer, key: key, duration: duration)
    for listener in details.listeners { listener.hear(event) }
  }

  /// Returns the time of the listeners' clock, if there are listeners.
  @usableFromInline
  package func timeOfListeners() -> Duration? {
    details.timeline?.now()
  }

  /// Returns a copy for a layer whose answer will be reported.
  func answered(by answer: LayerAnswer) -> Lookup {
    with { $0.explainMiss = { answer.explainMiss($0) } }
  }

  /// Returns a copy whose values are checked before they count as hits.
  @usableFromInline
  func checked(by check: ValueCheck) -> Lookup {
    with { $0.check = check }
  }

  /// Whether a layer without a value may explain that.
  @inlinable
  package var wantsReasons: Bool {
    if case .special(let special) = details { special.wantsReasons } else { false }
  }

  /// Explains why the layer that was asked will have no value.
  @usableFromInline
  package func explainMiss(_ reason: CacheEvent.Kind) {
    details.special?.explainMiss?(reason)
  }
}

extension Source {
  /// Returns the answer of one of several sources, and reports which one answered.
  @inlinable
  func layerAnswer(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    if lookup.isHeard { return reportedIfUnnamed(key, lookup) }
    guard lookup.isObservable else { return getStamped(key, lookup) }
    return reportedOnceHeard(key, lookup) { ownLabel }
  }

  /// Returns the answer of a flight without listeners, and reports it if a listener has joined by
  /// then.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - lookup: The terms of the get.
  ///   - layer: Returns the name of the layer; nil if it reports by itself.
  @inlinable
  func reportedOnceHeard(
    _ key: Key, _ lookup: Lookup, as layer: @escaping @Sendable () -> String?
  ) -> Signal<Stamped<Value>> {
    Signal { observer, lifetime in
      let report = SerialState(AnswerReport(lookup))
      getStamped(key, lookup).run(
        Observer(
          next: { stamped in
            report.value.hit(stamped.age, key, lookup, as: layer())
            observer.next(stamped)
          },
          other: { event in
            report.value.ended(event, key, lookup, as: layer())
            observer.other(event)
          }), lifetime)
    }
  }

  /// Returns the answer, and reports it to the listeners as that of a layer.
  ///
  /// A layer is a source with a name, or a nameless one that a combinator treats as a layer.
  @usableFromInline
  package func reported(
    as layer: String, _ key: Key, _ lookup: Lookup
  ) -> Signal<Stamped<Value>> {
    Signal { observer, lifetime in
      let answer = LayerAnswer(layer, key, lookup)
      getStamped(key, lookup.answered(by: answer)).run(
        Observer(
          next: { stamped in
            answer.reportHit(age: stamped.age)
            observer.next(stamped)
          },
          other: { event in
            switch event {
            case .progress: break
            case .failed(let error): answer.report(.failed(error))
            case .completed: answer.reportMiss()
            }
            observer.other(event)
          }), lifetime)
    }
  }

  /// Reports the failure of a fill of this layer, if it fails.
  @usableFromInline
  package func reportFailure(ofFill outcome: Signal<Void>, _ key: Key, _ lookup: Lookup) {
    let layer = layout(for: nil).label
    outcome.subscribe(onFailed: { lookup.report(.fillFailed($0), layer: layer, key: key) })
  }

  /// Returns the answer, and reports it if this is a nameless layer.
  @usableFromInline
  package func reportedIfUnnamed(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    let layout = layout(for: nil)
    guard layout.isUnnamedLayer else { return getStamped(key, lookup) }
    return reported(as: layout.label, key, lookup)
  }
}

/// The first answer of a layer; later ones are not reported.
final class LayerAnswer: Sendable {
  private let layer: String
  private let key: any Hashable & Sendable
  private let lookup: Lookup
  private let startedAt: Duration?
  private let state = Locked(
    (isReported: false, isChecked: false, reason: CacheEvent.Kind.miss))

  /// The check of values by a codec, if they count as hits only after decoding.
  private let check: ValueCheck?

  init(_ layer: String, _ key: any Hashable & Sendable, _ lookup: Lookup) {
    self.layer = layer
    self.key = key
    self.lookup = lookup
    startedAt = lookup.timeOfListeners()
    check = lookup.details.special?.check
  }

  /// Reports a hit, at once or after the value has been checked.
  func reportHit(age: Duration) {
    guard let check else { return report(.hit(age: age)) }
    state.withLock { $0.isChecked = true }
    check.wait { self.report($0 ?? .hit(age: age)) }
  }

  /// Explains why there will be no value.
  func explainMiss(_ reason: CacheEvent.Kind) {
    let former = state.withLock { swap(&$0.reason, reason) }
    _ = former  // released here, not under the lock
  }

  func reportMiss() {
    let (isChecked, reason) = state.withLock { ($0.isChecked, $0.reason) }
    if !isChecked { report(reason) }
  }

  func report(_ kind: CacheEvent.Kind) {
    let isFirst = state.withLock { state in
      defer { state.isReported = true }
      return !state.isReported
    }
    guard isFirst else { return }
    let now = lookup.timeOfListeners()
    let duration = now.flatMap { now in startedAt.map { now - $0 } }
    lookup.report(kind, layer: layer, key: key, duration: duration)
  }
}

/// Replaces the reason and returns the old one, to be released outside the lock.
private func swap(_ reason: inout CacheEvent.Kind, _ new: CacheEvent.Kind) -> CacheEvent.Kind {
  defer { reason = new }
  return reason
}

/// A report of a layer's first answer in a flight without listeners, for listeners that join it.
///
/// Until the layer answers it costs neither an object nor a clock reading.
@usableFromInline
struct AnswerReport: Sendable {
  /// Whether the layer reports its own answer, or no listener can join.
  @usableFromInline var isDone: Bool

  /// Whether the get had listeners from the beginning.
  @usableFromInline let isHeard: Bool

  /// Creates the report of a layer that is asked now.
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

  /// Sends the report; its duration is the age of the flight, an upper bound of the layer's own.
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
  /// Returns the answer of a layer; if there are no listeners yet, the caller sends `report`.
  @inlinable
  func answer(
    _ key: Key, _ lookup: Lookup, _ report: AnswerReport
  ) -> Signal<Stamped<Value>> {
    report.isHeard ? reportedIfUnnamed(key, lookup) : getStamped(key, lookup)
  }
}
