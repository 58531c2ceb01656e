public import MillpondSignals

extension Source {
  /// Keeps its values encoded by `codec`, and answers them decoded.
  ///
  /// What can't be decoded is a miss here, so that a lower layer is asked; what can't be encoded
  /// fails to be stored, and what was kept stays. A codec that works asynchronously keeps its place:
  /// later tellings of the same key wait for it, and so do later gets.
  ///
  /// Each get decodes for itself: put ``Source/reusingInFlight(clock:)`` over this, and it happens
  /// once for all who wait.
  @inlinable
  public func mapValues<NewValue>(_ codec: Codec<Value, NewValue>) -> MappedValues<Self, NewValue> {
    MappedValues(base: self, codec: .one(codec))
  }

  /// Keeps its values encoded by a codec that depends on the key, and answers them decoded.
  ///
  /// As ``mapValues(_:)-(Codec<Value,NewValue>)`` does otherwise: codecs that work at once and such as
  /// work in tasks may be mixed.
  ///
  /// - Parameter codec: Is asked at every get and every telling of a key, so keep it cheap.
  @inlinable
  public func mapValues<NewValue>(
    byKey codec: @escaping @Sendable (Key) -> Codec<Value, NewValue>
  ) -> MappedValues<Self, NewValue> {
    MappedValues(base: self, codec: .byKey(codec))
  }
}

/// A source or cache of values that are kept encoded.
public struct MappedValues<Base: Source, NewValue: Sendable>: Source {
  /// What is asked for.
  public typealias Key = Base.Key

  /// What is answered.
  public typealias Value = NewValue

  @usableFromInline
  enum Choice: Sendable {
    case one(Codec<Base.Value, NewValue>)
    case byKey(@Sendable (Key) -> Codec<Base.Value, NewValue>)

    /// Whether no telling ever waits to be encoded.
    @inlinable
    var isAtOnce: Bool {
      if case .one(let codec) = self, case .now = codec.way { true } else { false }
    }

    @inlinable
    func way(for key: Key) -> Codec<Base.Value, NewValue>.Way {
      switch self {
      case .one(let codec): codec.way
      case .byKey(let codec): codec(key).way
      }
    }
  }

  @usableFromInline let base: Base
  @usableFromInline let codec: Choice
  @usableFromInline let pending = PendingTellings<Key>()

  @inlinable
  init(base: Base, codec: Choice) {
    self.base = base
    self.codec = codec
  }

  /// The base's answer, decoded.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<NewValue> {
    getStamped(key, lookup).map { $0.value }
  }

  /// The base's answer, decoded.
  @inlinable
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<NewValue>> {
    codec.isAtOnce ? decoded(key, lookup) : pending.ask(key) { decoded(key, lookup) }
  }

  @inlinable
  func decoded(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<NewValue>> {
    switch codec.way(for: key) {
    case .now(_, let decode):
      base.getStamped(key, lookup).compactMap { stamped in
        do {
          return try stamped.map(decode)
        } catch {
          lookup.explainMiss(.undecodable(error))
          return nil
        }
      }
    case .later(_, let decode):
      base.getStamped(key, lookup).flatMap { stamped in
        Signal.async {
          let value = try await decode(stamped.value)
          return Stamped(value, age: stamped.age, validator: stamped.validator)
        }.recover { error in
          lookup.explainMiss(.undecodable(error))
          return .empty
        }
      }
    }
  }

  /// What the base has at once, decoded at once.
  ///
  /// What can't be decoded has been counted below as a hit, and will be again by the get that
  /// follows: there it is one, and it lasts until what a lower layer gives overwrites it. To know
  /// beforehand, each hit would have to be looked up twice.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> NewValue? {
    guard case .now(_, let decode) = codec.way(for: key) else { return nil }
    guard codec.isAtOnce || !pending.isPending(key) else { return nil }
    guard let value = base.now(key, lookup) else { return nil }
    return try? decode(value)
  }

  /// Tells the base, encoded.
  @inlinable
  public func apply(_ change: Change<Key, NewValue>) -> Signal<Void> {
    switch change {
    case .set(let key, let value, let revision):
      inOrder(key) { encoded(key, value) { base.apply(.set(key, $0, revision)) } }
    case .remove(let key, let revision):
      inOrder(key) { base.apply(.remove(key, revision)) }
    case .removeAll(let revision):
      codec.isAtOnce
        ? base.apply(.removeAll(revision)) : pending.tellAll { base.apply(.removeAll(revision)) }
    case .fill(let key, let stamped, let mark):
      encoded(key, stamped.value) { value in
        base.apply(.fill(key, stamped.map { _ in value }, mark))
      }
    }
  }

  /// Carries out a telling after those of the same key that still wait to be encoded.
  @inlinable
  func inOrder(
    _ key: Key, _ work: @escaping @Sendable () -> Signal<Void>
  ) -> Signal<Void> {
    codec.isAtOnce ? work() : pending.tell(key, work)
  }

  /// Goes on with the encoded value: at once, if the codec works so.
  @inlinable
  func encoded(
    _ key: Key, _ value: NewValue, _ next: @escaping @Sendable (Base.Value) -> Signal<Void>
  ) -> Signal<Void> {
    switch codec.way(for: key) {
    case .now(let encode, _):
      do {
        return next(try encode(value))
      } catch {
        return .fail(error)
      }
    case .later(let encode, _):
      return Signal.async { try await encode(value) }.flatMap { next($0) }.started()
    }
  }

  /// The mark of the base.
  ///
  /// A telling that still waits to be encoded has not reached the base: then every fill is refused.
  @inlinable
  public func mark(for key: Key) -> Mark {
    !codec.isAtOnce && pending.isPending(key) ? .told(.none) : base.mark(for: key)
  }

  /// The base, and the codec.
  public func layout(for key: Key?) -> Layout {
    Layout(.wrapper, "values mapped", of: base.layout(for: key))
  }
}

extension MappedValues: Cache where Base: Cache {}
