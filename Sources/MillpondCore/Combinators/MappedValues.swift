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
public struct MappedValues<Base: Source, NewValue: Sendable>: AnsweringSource {
  /// The key type of the base.
  public typealias Key = Base.Key

  /// The new value type.
  public typealias Value = NewValue

  @usableFromInline let base: Base
  @usableFromInline let mapping: ValueMapping<Key, Base.Value, NewValue>

  init(
    base: Base, codec: @escaping @Sendable (Key) -> Codec<Base.Value, NewValue>,
    decodeAtOnce: (@Sendable (Base.Value) throws -> NewValue)?, _ undecodable: UndecodableUse
  ) {
    self.base = base
    let undecodable = base.isCache ? undecodable : .failure
    mapping = ValueMapping(
      codec, decodeAtOnce: decodeAtOnce, undecodable, isOverSource: !base.isCache,
      asksAgain: !base.isCache || undecodable == .miss && base.topology(for: nil).hasOrigin)
  }

  /// Returns the base's answer, decoded.
  @inlinable
  public func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<NewValue>> {
    mapping.isAtOnce ? decoded(key, lookup) : mapping.delayed.ask(key) { decoded(key, lookup) }
  }

  @inlinable
  func decoded(_ key: Key, _ lookup: Lookup) -> Signal<Answer<NewValue>> {
    guard lookup.hasListeners else { return decoded(key, lookup, nil) }
    return .deferred {
      let check = ValueCheck(within: lookup)
      return decoded(key, lookup.checked(by: check), check).onEnd { _ in check.end() }
    }
  }

  @inlinable
  func decoded(
    _ key: Key, _ lookup: Lookup, _ check: ValueCheck?
  ) -> Signal<Answer<NewValue>> {
    guard mapping.asksAgain, lookup.freshness != .cachedOnly else {
      return decoded(base.answers(key, lookup), key, check, mapping.undecodable)
    }
    if lookup.freshness == .reload {
      return decoded(base.answers(key, lookup), key, check, .failure)
    }
    return .withCaller { caller in
      // Before the lookup, so that every later write wins over the removal.
      let revision = Revision.next()
      return decoded(base.answers(key, lookup), key, check, .failure) { stamped in
        // A source has just made what has no age.
        mapping.isOverSource && stamped.nanoseconds == 0
          ? nil : decodedAnew(key, lookup, check, since: revision).inContext(of: caller)
      }
    }
  }

  /// Returns the origin's answer, decoded, in place of a stored one that can't be.
  @usableFromInline
  func decodedAnew(
    _ key: Key, _ lookup: Lookup, _ check: ValueCheck?, since revision: Revision
  ) -> Signal<Answer<NewValue>> {
    // Removed first, since the origin could confirm the value that cannot be decoded.
    base.apply(.remove(key, revision)).recover { _ in .empty }
      .ignoreValues(as: Answer<NewValue>.self)
      .ifEmpty {
        // Its answer is later than the removal. No stored value is new enough, and the gets of
        // others may share it.
        let anew = lookup.with(.atMost(.nanoseconds(-1))).begun(at: .none)
        return decoded(base.answers(key, anew), key, check, .failure)
      }
  }

  /// - Parameter replacement: Receives a value that can't be decoded; returns what the get that
  ///   would fail continues with, or nil.
  @inlinable
  func decoded(
    _ answers: Signal<Answer<Base.Value>>, _ key: Key, _ check: ValueCheck?,
    _ undecodable: UndecodableUse,
    _ replacement: (@Sendable (Stamped<Base.Value>) -> Signal<Answer<NewValue>>?)? = nil
  ) -> Signal<Answer<NewValue>> {
    switch mapping.codec(key).way {
    case .now(_, let decode):
      if undecodable == .miss {
        return answers.map { answer in
          do {
            return try checked(answer, check, decode)
          } catch {
            return .undecodable(error)
          }
        }
      }
      return answers.attemptMap { answer in
        try checked(answer, check, decode)
      } orElse: { answer, error in
        answer.stamped.flatMap { replacement?($0) } ?? .fail(failure(of: key, error))
      }
    case .later(_, let decode):
      return answers.flatMap { answer in
        guard case .value(let stamped) = answer else { return answer.changed(decode) }
        return answer.changed(decode).onNext { _ in check?.settle(nil) }
          .recover { error in
            check?.settle(.undecodable(error))
            if undecodable == .miss { return .just(.undecodable(error)) }
            return replacement?(stamped) ?? .fail(failure(of: key, error))
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
    _ answer: Answer<Base.Value>, _ check: ValueCheck?,
    _ decode: (Base.Value) throws -> NewValue
  ) throws -> Answer<NewValue> {
    do {
      let decoded = try answer.attemptMap(decode)
      if case .value = decoded { check?.settle(nil) }
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

  /// The use of an undecodable value.
  @usableFromInline let undecodable: UndecodableUse

  /// Whether the base is no cache, but a source, which may answer from what it has stored itself.
  @usableFromInline let isOverSource: Bool

  /// Whether an origin is asked in place of a stored value that can't be decoded; of its answer that
  /// is a failure.
  @usableFromInline let asksAgain: Bool

  init(
    _ codec: @escaping @Sendable (Key) -> Codec<Encoded, Decoded>,
    decodeAtOnce: (@Sendable (Encoded) throws -> Decoded)?, _ undecodable: UndecodableUse,
    isOverSource: Bool, asksAgain: Bool
  ) {
    self.codec = codec
    self.decodeAtOnce = decodeAtOnce
    self.undecodable = undecodable
    self.isOverSource = isOverSource
    self.asksAgain = asksAgain
  }

  /// Whether no write ever waits for its encoding.
  @inlinable
  var isAtOnce: Bool {
    decodeAtOnce != nil
  }
}
