public import MillpondSignals

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
    with { $0.explainMiss = { answer.explainMiss($0) } }
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
    details.special?.explainMiss?(reason)
  }
}

extension Source {
  /// The answer of one of several that could be asked: those who listen hear which one it was.
  @inlinable
  func layerAnswer(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    if lookup.isHeard { return reportedIfUnnamed(key, lookup) }
    guard lookup.isObservable else { return getStamped(key, lookup) }
    return reportedOnceHeard(key, lookup) { ownLabel }
  }

  /// The answer of a flight that nobody listens to yet, reported if somebody does when it comes.
  ///
  /// - Parameter layer: What the layer is called; nil if it reports by itself.
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

  /// The answer, reported to those who listen as that of a layer.
  ///
  /// A layer is what has a name, or what some combinator finds to be one without a name.
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

  /// Reports that a fill of this layer has failed, if it does.
  @usableFromInline
  package func reportFailure(ofFill outcome: Signal<Void>, _ key: Key, _ lookup: Lookup) {
    let layer = layout(for: nil).label
    outcome.subscribe(onFailed: { lookup.report(.fillFailed($0), layer: layer, key: key) })
  }

  /// The answer, reported if this is a layer that nobody has named.
  @usableFromInline
  package func reportedIfUnnamed(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    let layout = layout(for: nil)
    guard layout.isUnnamedLayer else { return getStamped(key, lookup) }
    return reported(as: layout.label, key, lookup)
  }
}

/// What a layer said first: the rest is no news about the question.
final class LayerAnswer: Sendable {
  private let layer: String
  private let key: any Hashable & Sendable
  private let lookup: Lookup
  private let startedAt: Duration?
  private let state = Locked(
    (isReported: false, isChecked: false, reason: CacheEvent.Kind.miss))

  /// Says whether a value can be used, where that is not known before it has been decoded.
  private let check: ValueCheck?

  init(_ layer: String, _ key: any Hashable & Sendable, _ lookup: Lookup) {
    self.layer = layer
    self.key = key
    self.lookup = lookup
    startedAt = lookup.timeOfListeners()
    check = lookup.details.special?.check
  }

  /// Reports a hit: at once, or when the value turns out to be of use.
  func reportHit(age: Duration) {
    guard let check else { return report(.hit(age: age)) }
    state.withLock { $0.isChecked = true }
    check.wait { self.report($0 ?? .hit(age: age)) }
  }

  /// Why there will be no value.
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

/// Puts in the new, and gives the old one out of the lock, to be released there.
private func swap(_ reason: inout CacheEvent.Kind, _ new: CacheEvent.Kind) -> CacheEvent.Kind {
  defer { reason = new }
  return reason
}

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
