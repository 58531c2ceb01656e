public import MillpondSignals

extension Source {
  /// Stores values encoded by `codec`, and answers them decoded; `transformValues` in Carlos.
  ///
  /// A cached value that cannot be decoded is a miss, so that a lower layer is asked, unless
  /// `undecodable` says otherwise. If the base is a source and no cache, the get fails with
  /// ``CacheError/undecodable(key:underlying:)``, which has the codec's error; an answer that the
  /// source had stored, so that it has an age, is asked for once more, as with
  /// `Freshness.atMost` of a negative age. If it is a composition of caches over a source, the get
  /// asks that source, as a reload does, and fails with the same error if its answer cannot be
  /// decoded either. Setting
  /// a value that cannot be encoded fails, and the stored value stays. If
  /// the answer to a reload cannot be encoded, the stored value is removed, since it is older.
  ///
  /// While an asynchronous codec encodes, only gets of that key wait for it. Other writes do not;
  /// the latest write wins, whichever is encoded first. A set called between a get and the fetch
  /// that the get leads to may be stored here while the fetched value is stored in a layer above,
  /// until that evicts it: neither call came first. A get made by a codec that would wait for that
  /// same run of it fails with ``CacheError/circular(key:)``.
  ///
  /// Each get decodes for itself. With ``Source/reusingInFlight(maxFlights:clock:)`` over this, all
  /// callers that wait share one decoding.
  ///
  /// - Parameters:
  ///   - codec: The conversion between the base's values and the new ones.
  ///   - undecodable: The use of a cached value that cannot be decoded.
  @inlinable
  public func mapValues<NewValue>(
    _ codec: Codec<Value, NewValue>, undecodable: UndecodableUse = .miss
  ) -> MappedValues<Self, NewValue> {
    MappedValues(
      base: self, codec: { _ in codec }, decodeAtOnce: codec.decodeAtOnce, undecodable)
  }

  /// Stores values changed by one function, and answers them changed back by another.
  ///
  ///     disk.mapValues(encode: { $0.data }, decode: { try Profile($0) })
  ///
  /// The same as ``mapValues(_:undecodable:)`` with a codec of the two functions.
  ///
  /// - Parameters:
  ///   - undecodable: The use of a cached value that cannot be decoded.
  ///   - encode: Turns a new value into one of the base; its errors fail the set.
  ///   - decode: Turns a value of the base into a new one.
  @inlinable
  public func mapValues<NewValue>(
    undecodable: UndecodableUse = .miss,
    encode: @escaping @Sendable (NewValue) throws -> Value,
    decode: @escaping @Sendable (Value) throws -> NewValue
  ) -> MappedValues<Self, NewValue> {
    mapValues(Codec(encode: encode, decode: decode), undecodable: undecodable)
  }

  /// Stores values encoded by a codec that depends on the key, and answers them decoded.
  ///
  /// Otherwise the same as ``mapValues(_:undecodable:)``. Synchronous and asynchronous codecs may
  /// be mixed.
  ///
  /// - Parameters:
  ///   - undecodable: The use of a cached value that cannot be decoded.
  ///   - codec: Called at every get and every write of a key, so keep it cheap.
  @inlinable
  public func mapValues<NewValue>(
    undecodable: UndecodableUse = .miss,
    byKey codec: @escaping @Sendable (Key) -> Codec<Value, NewValue>
  ) -> MappedValues<Self, NewValue> {
    MappedValues(base: self, codec: codec, decodeAtOnce: nil, undecodable)
  }
}

/// The use of a cached value that its codec cannot decode.
public enum UndecodableUse: Sendable, Hashable {
  /// The value is a miss, so that a lower layer is asked.
  case miss

  /// The get fails with ``CacheError/undecodable(key:underlying:)``.
  ///
  /// A lower layer is asked even so, since a failure of an upper layer is not the end.
  case failure
}

/// A source or cache whose values are stored encoded.
public struct MappedValues<Base: Source, NewValue: Sendable>: StampedSource {
  /// The key type of the base.
  public typealias Key = Base.Key

  /// The new value type.
  public typealias Value = NewValue

  @usableFromInline let base: Base
  @usableFromInline let mapping: ValueMapping<Key, Base.Value, NewValue>

  @inlinable
  init(
    base: Base, codec: @escaping @Sendable (Key) -> Codec<Base.Value, NewValue>,
    decodeAtOnce: (@Sendable (Base.Value) throws -> NewValue)?, _ undecodable: UndecodableUse
  ) {
    self.base = base
    let undecodable = base.isCache ? undecodable : .failure
    mapping = ValueMapping(
      codec, decodeAtOnce: decodeAtOnce, undecodable, isOverSource: !base.isCache,
      isOverOrigin: undecodable == .miss && base.topology(for: nil).hasOrigin)
  }

  /// Returns the base's answer, decoded.
  @inlinable
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<NewValue>> {
    mapping.isAtOnce ? decoded(key, lookup) : mapping.delayed.ask(key) { decoded(key, lookup) }
  }

  @inlinable
  func decoded(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<NewValue>> {
    guard lookup.hasListeners else { return decoded(key, lookup, nil) }
    return .deferred {
      let check = ValueCheck(within: lookup)
      return decoded(key, lookup.checked(by: check), check).onEnd { _ in check.end() }
    }
  }

  @inlinable
  func decoded(
    _ key: Key, _ lookup: Lookup, _ check: ValueCheck?
  ) -> Signal<Stamped<NewValue>> {
    if mapping.isOverOrigin, lookup.freshness != .cachedOnly {
      return decodedByOrigin(key, lookup, check)
    }
    if mapping.isOverSource, lookup.freshness.admitsOlder {
      return decodedBySource(key, lookup, check)
    }
    return decoded(base.getStamped(key, lookup), key, lookup, check, mapping.undecodable)
  }

  /// Returns the source's answer, decoded; if it is a stored one and that can't be, a newer one.
  @inlinable
  func decodedBySource(
    _ key: Key, _ lookup: Lookup, _ check: ValueCheck?
  ) -> Signal<Stamped<NewValue>> {
    Signal { observer, lifetime in
      let caller = WorkContext.current
      decoded(base.getStamped(key, lookup), key, lookup, check, .failure) { stamped in
        stamped.nanoseconds > 0 ? decodedAnew(key, lookup, check).inContext(of: caller) : nil
      }.run(observer, lifetime)
    }
  }

  /// Returns the source's answer to a get that no stored one suits, decoded.
  @usableFromInline
  func decodedAnew(
    _ key: Key, _ lookup: Lookup, _ check: ValueCheck?
  ) -> Signal<Stamped<NewValue>> {
    let anew = lookup.with(.atMost(.nanoseconds(-1)))
    return decoded(base.getStamped(key, anew), key, anew, check, .failure)
  }

  /// Returns the base's answer, decoded; if that can't be, the origin's.
  @usableFromInline
  func decodedByOrigin(
    _ key: Key, _ lookup: Lookup, _ check: ValueCheck?
  ) -> Signal<Stamped<NewValue>> {
    if lookup.freshness == .reload {
      return decoded(base.getStamped(key, lookup), key, lookup, check, .failure)
    }
    return .withCaller { caller in
      // Before the lookup, so that every later write wins over the removal.
      let (isUndecodable, revision) = (Locked(false), Revision.next())
      let values = base.getStamped(key, lookup)
      return decoded(values, key, lookup, check, .miss) { _ in
        isUndecodable.withLock { $0 = true }
        return nil
      }
      .ifEmpty {
        guard isUndecodable.withLock({ $0 }) else { return .empty }
        // Removed first, since the origin could confirm the value that cannot be decoded.
        return base.apply(.remove(key, revision)).recover { _ in .empty }
          .ignoreValues(as: Stamped<NewValue>.self)
          .ifEmpty {
            // Its answer is later than the removal.
            let reload = lookup.with(.reload).begun(at: .none)
            return decoded(base.getStamped(key, reload), key, reload, check, .failure)
              .inContext(of: caller)
          }
      }
    }
  }

  /// - Parameter replacement: Receives a value that can't be decoded; returns what the get that
  ///   would fail continues with, or nil.
  @inlinable
  func decoded(
    _ values: Signal<Stamped<Base.Value>>, _ key: Key, _ lookup: Lookup, _ check: ValueCheck?,
    _ undecodable: UndecodableUse,
    _ replacement: (@Sendable (Stamped<Base.Value>) -> Signal<Stamped<NewValue>>?)? = nil
  ) -> Signal<Stamped<NewValue>> {
    switch mapping.codec(key).way {
    case .now(_, let decode):
      undecodable == .miss
        ? values.compactMap { stamped in
          do {
            return try checked(check) { try stamped.map(decode) }
          } catch {
            lookup.explainMiss(.undecodable(error))
            _ = replacement?(stamped)
            return nil
          }
        }
        : values.attemptMap { stamped in
          try checked(check) { try stamped.map(decode) }
        } orElse: { stamped, error in
          replacement?(stamped) ?? .fail(failure(of: key, error))
        }
    case .later(_, let decode):
      values.flatMap { stamped in
        Signal.async {
          let value = try await decode(stamped.value)
          check?.settle(nil)
          return stamped.map { _ in value }
        }.recover { error in
          check?.settle(.undecodable(error))
          let replacement = replacement?(stamped)
          guard undecodable == .miss else { return replacement ?? .fail(failure(of: key, error)) }
          lookup.explainMiss(.undecodable(error))
          return .empty
        }
      }
    }
  }

  /// The failure of a get whose value the codec can't read.
  @usableFromInline
  func failure(of key: Key, _ error: any Error) -> any Error {
    if error is CancellationError || error is CacheError { return error }
    return CacheError.undecodable(key: String(withoutSecrets: key), underlying: error)
  }

  /// Decodes, and reports to the layers that sent the value whether it was decodable.
  @inlinable
  func checked(
    _ check: ValueCheck?, _ decode: () throws -> Stamped<NewValue>
  ) throws -> Stamped<NewValue> {
    do {
      let decoded = try decode()
      check?.settle(nil)
      return decoded
    } catch {
      check?.settle(.undecodable(error))
      throw error
    }
  }

  /// Returns the base's immediate value, decoded.
  ///
  /// One that cannot be decoded is left to the get that follows.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> NewValue? {
    if let decodeAtOnce = mapping.decodeAtOnce {
      return base.now(key, lookup) { try? decodeAtOnce($0) }
    }
    guard case .now(_, let decode) = mapping.codec(key).way, !mapping.delayed.isPending(key) else {
      return nil
    }
    return base.now(key, lookup) { try? decode($0) }
  }

  /// Writes the encoded value to the base.
  @inlinable
  public func apply(_ change: Change<Key, NewValue>) -> Signal<Void> {
    switch change {
    case .set(let key, let stamped, let revision): set(key, stamped, revision)
    case .remove(let key, let revision):
      written(base.apply(.remove(key, revision))) { $0.overtake(key, revision) }
    case .removeAll(let revision):
      written(base.apply(.removeAll(revision))) { $0.overtakeAll(revision) }
    case .removeMatching(let predicate, let revision):
      written(base.apply(.removeMatching(predicate, revision))) {
        $0.overtake(predicate, revision)
      }
    case .fill(let key, let stamped, let token):
      fill(key, stamped, mapping.isAtOnce ? token : token.accepted)
    }
  }

  @inlinable
  func set(_ key: Key, _ stamped: Stamped<NewValue>, _ revision: Revision) -> Signal<Void> {
    switch mapping.codec(key).way {
    case .now(let encode, _):
      .attempt {
        written(base.apply(.set(key, try stamped.map(encode), revision))) {
          $0.overtake(key, revision)
        }
      }
    case .later(let encode, _):
      mapping.delayed.write(key, revision) {
        Signal.async { try await encode(stamped.value) }.map { value in
          base.apply(.set(key, stamped.map { _ in value }, revision))
        }
      }
    }
  }

  /// Stops waiting for earlier writes once a write has reached the base at once.
  @inlinable
  func written(
    _ outcome: Signal<Void>, _ overtake: (DelayedWrites<Key>) -> Void
  ) -> Signal<Void> {
    if !mapping.isAtOnce { overtake(mapping.delayed) }
    return outcome
  }

  @inlinable
  func fill(_ key: Key, _ stamped: Stamped<NewValue>, _ token: FillToken) -> Signal<Void> {
    switch mapping.codec(key).way {
    case .now(let encode, _):
      do {
        return base.apply(.fill(key, try stamped.map(encode), token))
      } catch {
        _ = base.removeOutdated(key, token)
        return .fail(error)
      }
    case .later(let encode, _):
      return Signal.async { try await encode(stamped.value) }
        .recover { error in
          _ = base.removeOutdated(key, token)
          return .fail(error)
        }
        .flatMap { value in base.apply(.fill(key, stamped.map { _ in value }, token)) }.started()
    }
  }

  /// Returns the base's stored value, decoded.
  @inlinable
  public func staleValue(of key: Key) -> Signal<Stamped<NewValue>>? {
    base.staleValue(of: key).map { decoded($0, key, Lookup(), nil, .miss) }
  }

  /// The base and the codec.
  public func topology(for key: Key?) -> Topology {
    let topology = Topology(.wrapper, "values mapped", of: base.topology(for: key))
    if mapping.isAtOnce { return topology }
    return topology.flushed(after: { [mapping] in mapping.delayed.allArrived() })
  }
}

extension MappedValues: Cache where Base: Cache {}

/// The codec and the writes that wait for it, as one object, so that a hit retains one object and
/// not the parts of a codec.
@usableFromInline
final class ValueMapping<Key: Hashable & Sendable, Encoded: Sendable, Decoded: Sendable>: Sendable {
  @usableFromInline let codec: @Sendable (Key) -> Codec<Encoded, Decoded>
  @usableFromInline let delayed = DelayedWrites<Key>()

  /// The decoder, at hand for hits, if all keys have the same codec and it is synchronous.
  @usableFromInline let decodeAtOnce: (@Sendable (Encoded) throws -> Decoded)?

  /// The use of an undecodable value; of an origin's answer it is a failure.
  @usableFromInline let undecodable: UndecodableUse

  /// Whether the base is no cache, but a source, which may answer from what it has stored itself.
  @usableFromInline let isOverSource: Bool

  /// Whether the base is a composition that ends in an origin, whose answer is no miss.
  @usableFromInline let isOverOrigin: Bool

  @inlinable
  init(
    _ codec: @escaping @Sendable (Key) -> Codec<Encoded, Decoded>,
    decodeAtOnce: (@Sendable (Encoded) throws -> Decoded)?, _ undecodable: UndecodableUse,
    isOverSource: Bool, isOverOrigin: Bool
  ) {
    self.codec = codec
    self.decodeAtOnce = decodeAtOnce
    self.undecodable = undecodable
    self.isOverSource = isOverSource
    self.isOverOrigin = isOverOrigin
  }

  /// Whether no write ever waits for its encoding.
  @inlinable
  var isAtOnce: Bool {
    decodeAtOnce != nil
  }
}
