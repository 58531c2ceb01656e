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

  @usableFromInline let base: Base
  @usableFromInline let mapping: ValueMapping<Key, Base.Value, NewValue>

  @inlinable
  init(base: Base, codec: ValueMapping<Key, Base.Value, NewValue>.Choice) {
    self.base = base
    mapping = ValueMapping(codec)
  }

  /// The base's answer, decoded.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<NewValue> {
    getStamped(key, lookup).map { $0.value }
  }

  /// The base's answer, decoded.
  @inlinable
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<NewValue>> {
    mapping.isAtOnce ? decoded(key, lookup) : mapping.pending.ask(key) { decoded(key, lookup) }
  }

  @inlinable
  func decoded(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<NewValue>> {
    switch mapping.way(for: key) {
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
    if let decodeAtOnce = mapping.decodeAtOnce {
      return base.now(key, lookup).flatMap { try? decodeAtOnce($0) }
    }
    guard case .now(_, let decode) = mapping.way(for: key), !mapping.pending.isPending(key) else {
      return nil
    }
    return base.now(key, lookup).flatMap { try? decode($0) }
  }

  /// Tells the base, encoded.
  @inlinable
  public func apply(_ change: Change<Key, NewValue>) -> Signal<Void> {
    // What takes time to encode has its place in the order while it does.
    let pending = mapping.isAtOnce ? nil : change.revision.map { PendingWrite($0) }
    return switch change {
    case .set(let key, let value, let revision):
      inOrder(key) {
        encoded(key, value) {
          defer { pending?.end() }
          return base.apply(.set(key, $0, revision))
        }
      }
    case .remove(let key, let revision):
      inOrder(key) { base.apply(.remove(key, revision)) }
    case .removeAll(let revision):
      mapping.isAtOnce
        ? base.apply(.removeAll(revision))
        : mapping.pending.tellAll { base.apply(.removeAll(revision)) }
    case .fill(let key, let stamped, let token):
      fill(key, stamped, mapping.isAtOnce ? token : token.accepted)
    }
  }

  @inlinable
  func fill(_ key: Key, _ stamped: Stamped<NewValue>, _ token: FillToken) -> Signal<Void> {
    encoded(key, stamped.value) { value in
      base.apply(.fill(key, stamped.map { _ in value }, token))
    }
  }

  /// Carries out a telling after those of the same key that still wait to be encoded.
  @inlinable
  func inOrder(
    _ key: Key, _ work: @escaping @Sendable () -> Signal<Void>
  ) -> Signal<Void> {
    mapping.isAtOnce ? work() : mapping.pending.tell(key, work)
  }

  /// Goes on with the encoded value: at once, if the codec works so.
  @inlinable
  func encoded(
    _ key: Key, _ value: NewValue, _ next: @escaping @Sendable (Base.Value) -> Signal<Void>
  ) -> Signal<Void> {
    switch mapping.way(for: key) {
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

  /// The base, and the codec.
  public func layout(for key: Key?) -> Layout {
    let layout = Layout(.wrapper, "values mapped", of: base.layout(for: key))
    if mapping.isAtOnce { return layout }
    return layout.flushed(after: { [mapping] in mapping.pending.allDone() })
  }
}

extension MappedValues: Cache where Base: Cache {}

/// How values are mapped, and the tellings that wait for it: one object, so that a hit that carries
/// its cache along has one more to retain, not the parts of a codec.
@usableFromInline
final class ValueMapping<Key: Hashable & Sendable, Encoded: Sendable, Decoded: Sendable>: Sendable {
  @usableFromInline
  enum Choice: Sendable {
    case one(Codec<Encoded, Decoded>)
    case byKey(@Sendable (Key) -> Codec<Encoded, Decoded>)
  }

  @usableFromInline let codec: Choice
  @usableFromInline let pending = PendingTellings<Key>()

  /// How to decode, for all keys, if that takes no time: at hand for hits.
  @usableFromInline let decodeAtOnce: (@Sendable (Encoded) throws -> Decoded)?

  @inlinable
  init(_ codec: Choice) {
    self.codec = codec
    if case .one(let codec) = codec, case .now(_, let decode) = codec.way {
      decodeAtOnce = decode
    } else {
      decodeAtOnce = nil
    }
  }

  /// Whether no telling ever waits to be encoded.
  @inlinable
  var isAtOnce: Bool {
    decodeAtOnce != nil
  }

  @inlinable
  func way(for key: Key) -> Codec<Encoded, Decoded>.Way {
    switch codec {
    case .one(let codec): codec.way
    case .byKey(let codec): codec(key).way
    }
  }
}
