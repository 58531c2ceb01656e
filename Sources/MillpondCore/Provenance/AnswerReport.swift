public import MillpondSignals

extension Lookup {
  /// Whether the get has listeners.
  ///
  /// Free for most gets, which have no details.
  @inlinable
  package var hasListeners: Bool {
    details.hasListeners
  }

  /// Whether the get has listeners or may get some, since a caller with a listener may join its
  /// flight.
  @inlinable
  package var isObservable: Bool {
    details.isObservable
  }

  /// Returns a copy with one more listener, unless it is one already.
  @usableFromInline
  package func reporting(by listener: any CacheEventListener) -> Lookup {
    details.areHeard(by: listener) ? self : with { $0.listeners.append(listener) }
  }

  /// Reports an event to the listeners.
  @usableFromInline
  package func report(
    _ kind: CacheEvent.Kind, layer: String, key: (any Hashable & Sendable)?
  ) {
    details.send(CacheEvent(kind, layer: layer, key: key, nanoseconds: nil))
  }

  /// Returns a copy whose values are checked before they count as hits.
  @usableFromInline
  func checked(by check: ValueCheck) -> Lookup {
    with { $0.check = check }
  }
}

extension Source {
  /// Returns the answer of a layer, and reports it to the listeners, including those that join the
  /// flight before it comes.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - lookup: The terms of the get.
  ///   - label: Returns the name of the layer; nil if it reports by itself.
  ///   - naming: Makes the failures name the layer.
  @inlinable
  package func layerAnswer(
    _ key: Key, _ lookup: Lookup, as label: @escaping @Sendable () -> String?,
    naming: @escaping @Sendable (Signal<Answer<Value>>) -> Signal<Answer<Value>> = { $0 }
  ) -> Signal<Answer<Value>> {
    guard lookup.isObservable else { return naming(answers(key, lookup)) }
    return Signal { observer, lifetime in
      let report = SerialState(AnswerReport(lookup, as: label()))
      naming(answers(key, lookup)).run(
        Observer(
          next: { answer in
            report.value.received(answer, key, lookup, as: label())
            observer.next(answer)
          },
          other: { event in
            report.value.ended(event, key, lookup, as: label(), isStore: isStoreAlone)
            observer.other(event)
          }), lifetime)
    }
  }

  /// Whether there is no origin here, so that a reload asks nothing: it is neither a hit nor a miss.
  @usableFromInline
  var isStoreAlone: Bool { !topology(for: nil).hasOrigin }

  /// Returns the immediate value, and reports it to the listeners.
  ///
  /// - Parameter label: Returns the name of the layer; nil if it reports by itself.
  @inlinable
  func layerNow(_ key: Key, _ lookup: Lookup, as label: () -> String?) -> Value? {
    let value = now(key, lookup)
    if value != nil, lookup.hasListeners, let label = label() {
      lookup.report(.hit(age: nil), layer: label, key: key)
    }
    return value
  }

  /// Returns the answer of one of several sources, and reports which one answered.
  @inlinable
  func layerAnswer(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    layerAnswer(key, lookup) { ownLabel }
  }

  /// Reports the failure of a fill of this layer, if it fails.
  @usableFromInline
  package func reportFailure(ofFill outcome: Signal<Void>, _ key: Key, _ lookup: Lookup) {
    if outcome.isDone { return }
    let layer = layerLabel
    outcome.subscribe(onFailed: { lookup.report(.fillFailed($0), layer: layer, key: key) })
  }
}

/// The report of a layer's first answer to a get; later answers are not reported.
///
/// Without listeners it costs neither an object nor a look at the clock until the layer answers.
@usableFromInline
@frozen
struct AnswerReport: Sendable {
  /// The time at which the layer was asked, by the listeners' clock; nil if there were no
  /// listeners.
  @usableFromInline let askedAt: Int64?

  /// Why the layer has no value, if it says so.
  @usableFromInline var reason: CacheEvent.Kind?

  /// Whether the layer has answered, or no listener can join.
  @usableFromInline var isDone: Bool

  /// Creates a report of nothing.
  @inlinable
  init() {
    askedAt = nil
    isDone = true
  }

  /// Creates the report of a layer that is asked now.
  @inlinable
  init(_ lookup: Lookup, as label: @autoclosure () -> String?) {
    if lookup.hasListeners {
      isDone = label() == nil
      askedAt = isDone ? nil : lookup.details.timeOfListeners()
    } else {
      isDone = !lookup.isObservable
      askedAt = nil
    }
  }

  /// Reports the layer's value, or keeps the reason why it has none until it ends.
  @inlinable
  mutating func received(
    _ answer: Answer<some Sendable>, _ key: some Hashable & Sendable, _ lookup: Lookup,
    as label: @autoclosure () -> String?
  ) {
    if isDone { return }
    switch answer {
    case .value(let stamped): hit(stamped.age, key, lookup, as: label())
    case .notModified: answered(.revalidated, key, lookup, as: label())
    case .stale, .tooOld, .undecodable: if lookup.hasListeners { reason = answer.reason }
    }
  }

  /// Reports the layer's value.
  @inlinable
  mutating func hit(
    _ age: @autoclosure () -> Duration, _ key: some Hashable & Sendable, _ lookup: Lookup,
    as label: @autoclosure () -> String?
  ) {
    if !isDone { answered(.hit(age: age()), key, lookup, as: label()) }
  }

  @inlinable
  mutating func answered(
    _ kind: @autoclosure () -> CacheEvent.Kind, _ key: some Hashable & Sendable, _ lookup: Lookup,
    as label: @autoclosure () -> String?
  ) {
    // Also without listeners: to those that join later, the end is no miss.
    isDone = true
    if lookup.hasListeners { send(kind(), key, lookup, label()) }
  }

  /// Reports the layer's failure, or that it has no value.
  ///
  /// A reload asks what only stores for no value, so that has missed nothing.
  @inlinable
  mutating func ended(
    _ event: Event<Never>, _ key: some Hashable & Sendable, _ lookup: Lookup,
    as label: @autoclosure () -> String?, isStore: @autoclosure () -> Bool
  ) {
    if isDone || !lookup.hasListeners { return }
    switch event {
    case .progress: break
    case .failed(let error): send(.failed(error), key, lookup, label())
    case .completed:
      if lookup.freshness == .reload, isStore() { return isDone = true }
      send(reason ?? .miss, key, lookup, label())
    }
  }

  /// Sends the event to the listeners.
  ///
  /// Listeners that joined late receive the age of the flight as the duration: that of the layer
  /// was not measured, and is at most this.
  @usableFromInline
  mutating func send(
    _ kind: CacheEvent.Kind, _ key: __owned any Hashable & Sendable, _ lookup: Lookup,
    _ label: __owned String?
  ) {
    isDone = true
    guard let label else { return }
    let nanoseconds =
      if let askedAt { lookup.details.timeOfListeners().map { $0 - askedAt } } else {
        lookup.flight?.nanoseconds
      }
    let event = CacheEvent(kind, layer: label, key: key, nanoseconds: nanoseconds)
    // A value that a codec has still to read may turn out to be none.
    if case .hit = kind, let check = lookup.details.check {
      check.wait { flaw in lookup.details.send(flaw.map { event.with($0) } ?? event) }
    } else {
      lookup.details.send(event)
    }
  }
}
