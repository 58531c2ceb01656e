public import MillpondSignals

/// An answer of a source to a get: a value, or the reason why there is none.
///
/// The signal of a get's answers sends values, or one reason before it completes; a signal that
/// completes empty has missed without a further reason. Whoever needs only the values ignores the
/// others, as ``Source/get(_:_:)`` does.
public enum Answer<Value: Sendable>: Sendable {
  /// A value, with its age, its validator and the time for which it may be stored.
  case value(Stamped<Value>)

  /// There is a stored value, but it is too old for the get; it has a validator, so that a layer
  /// below may confirm it.
  case stale(Stamped<Value>)

  /// There is a stored value of this age, which is too old for the get and can't be confirmed.
  case tooOld(age: Duration)

  /// There is a stored value that a codec can't decode.
  case undecodable(any Error)

  /// The value with the validator ``Lookup/known`` is still current, and may be stored for this time
  /// from now on; nil leaves that to each cache.
  case notModified(timeToLive: TimeToLive? = nil)
}

extension Answer {
  /// The value with its age, if this is one.
  @inlinable public var stamped: Stamped<Value>? {
    if case .value(let stamped) = self { stamped } else { nil }
  }

  /// The stored value that is too old for the get and may be confirmed, if this is one.
  @inlinable package var confirmable: Stamped<Value>? {
    if case .stale(let stamped) = self { stamped } else { nil }
  }

  /// Whether the source has what was asked for: a value, or the word that the known one is current.
  @inlinable package var isFound: Bool {
    switch self {
    case .value, .notModified: true
    case .stale, .tooOld, .undecodable: false
    }
  }

  /// Why there is no value, for those who listen to the get; nil if there is one.
  @usableFromInline var reason: CacheEvent.Kind? {
    switch self {
    case .value: nil
    case .stale(let stamped): .tooOld(age: stamped.age)
    case .tooOld(let age): .tooOld(age: age)
    case .undecodable(let error): .undecodable(error)
    case .notModified: .revalidated
    }
  }

  /// Returns the answer of a store that has a value which is too old for a get.
  ///
  /// - Parameter stamped: The stored value.
  @usableFromInline
  package static func outdated(_ stamped: Stamped<Value>) -> Answer {
    stamped.isConfirmable ? .stale(stamped) : .tooOld(age: stamped.age)
  }

  /// Returns the same answer with another value, also for a stale one.
  ///
  /// - Parameter transform: Returns the other value.
  @inlinable
  public func map<NewValue>(
    _ transform: (Value) throws -> NewValue
  ) rethrows -> Answer<NewValue> {
    switch self {
    case .value(let stamped): .value(try stamped.map(transform))
    case .stale(let stamped): .stale(try stamped.map(transform))
    case .tooOld(let age): .tooOld(age: age)
    case .undecodable(let error): .undecodable(error)
    case .notModified(let timeToLive): .notModified(timeToLive: timeToLive)
    }
  }
}

extension Answer {
  /// Returns the same answer with another value; a stale one that `transform` refuses counts as
  /// undecodable.
  ///
  /// - Parameter transform: Returns the other value.
  @inlinable
  func attemptMap<NewValue>(
    _ transform: (Value) throws -> NewValue
  ) throws -> Answer<NewValue> {
    do {
      return try map(transform)
    } catch {
      if confirmable != nil { return .undecodable(error) }
      throw error
    }
  }

  /// Sends the same answer with another value, found in a task; a stale one that `transform` refuses
  /// counts as undecodable.
  ///
  /// - Parameter transform: Returns the other value.
  @usableFromInline
  func changed<NewValue>(
    _ transform: @escaping @Sendable (Value) async throws -> NewValue
  ) -> Signal<Answer<NewValue>> {
    switch self {
    case .value(let old):
      .async {
        let value = try await transform(old.value)
        return .value(old.map { _ in value })
      }
    case .stale(let old):
      Signal.async {
        let value = try await transform(old.value)
        return .stale(old.map { _ in value })
      }.recover { .just(.undecodable($0)) }
    case .tooOld(let age): .just(.tooOld(age: age))
    case .undecodable(let error): .just(.undecodable(error))
    case .notModified(let timeToLive): .just(.notModified(timeToLive: timeToLive))
    }
  }
}

extension Stamped {
  /// Whether an origin can be asked if the value is still current.
  @usableFromInline
  package var isConfirmable: Bool {
    validator.map { !$0.isEmpty } ?? false
  }

  /// Returns the value that its origin has confirmed, as if it had just arrived.
  ///
  /// - Parameter timeToLive: Its new time to live; nil if it has none of its own.
  @usableFromInline
  func confirmed(_ timeToLive: TimeToLive?) -> Stamped {
    Stamped(value, validator: validator, timeToLive: timeToLive)
  }
}

extension Lookup {
  /// The validator of the value that the caller has stored, if it asks whether that is still
  /// current; nil for a caller that needs a value.
  ///
  /// A source may answer with a value, as always, or with ``Answer/notModified(timeToLive:)``.
  @inlinable public var known: Validator? {
    details.known
  }

  /// Returns a copy that asks whether the value with a validator is still current; nil asks about
  /// none.
  @usableFromInline
  package func asking(about known: Validator?) -> Lookup {
    known == nil && self.known == nil ? self : with { $0.known = known }
  }
}

extension Signal {
  /// Returns the same signal with values only, without their ages.
  ///
  /// A `compactMap` would keep its closure for each subscriber.
  @inlinable
  package func values<Content>() -> Signal<Content> where Value == Answer<Content> {
    let (start, now) = (start, now)
    var value: (@Sendable () -> Content?)?
    if let now { value = { now()?.stamped?.value } }
    return Signal<Content>(
      start: { observer, lifetime in
        let next = observer.onNext
        start?(
          observer.replacingNext { answer in
            if case .value(let stamped) = answer { next(stamped.value) }
          }, lifetime)
      }, now: value, emptyError: emptyError)
  }

  /// Returns the values with their ages.
  package func stampedValues<Content>() -> Signal<Stamped<Content>> where Value == Answer<Content> {
    compactMap { $0.stamped }
  }

  /// Subscribes to another signal if this one ends without a value, and without the word that the
  /// known one is current.
  ///
  /// - Parameter next: Receives the failure, if it fails, and the last reason, if it sent any.
  package func ifNotFound<Content>(
    _ next: @escaping @Sendable (_ failure: (any Error)?, _ reason: Answer<Content>?) -> Signal
  ) -> Signal where Value == Answer<Content> {
    .deferred {
      let reason = Locked<Answer<Content>?>(nil)
      return found(noting: reason).ifNoValue { failure in next(failure, reason.withLock { $0 }) }
    }
  }

  /// The first value, or word that the known one is current, or else the last reason, or the
  /// failure.
  func first<Content>() -> Signal<Result<Answer<Content>?, any Error>>
  where Value == Answer<Content> {
    .deferred {
      let reason = Locked<Answer<Content>?>(nil)
      return found(noting: reason).take(1).map { .success($0) }.ifNoValue { failure in
        .just(failure.map { .failure($0) } ?? .success(reason.withLock { $0 }))
      }
    }
  }

  /// Withholds the reasons why there is no value.
  ///
  /// - Parameter reason: Receives the last one.
  package func found<Content>(noting reason: Locked<Answer<Content>?>) -> Signal
  where Value == Answer<Content> {
    filter { answer in
      if !answer.isFound { reason.discard { exchange(&$0, with: answer) } }
      return answer.isFound
    }
  }
}
