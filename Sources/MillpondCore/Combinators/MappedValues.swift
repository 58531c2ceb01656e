public import MillpondSignals

extension Source {
  /// Keeps its values encoded by `codec`, and answers them decoded.
  ///
  /// What can't be decoded is a miss here, so that a lower layer is asked; what can't be encoded
  /// fails to be stored, and what was kept stays. A codec that works asynchronously keeps its place:
  /// later tellings of the same key wait for it, and so do later gets.
  @inlinable
  public func mapValues<NewValue>(_ codec: Codec<Value, NewValue>) -> MappedValues<Self, NewValue> {
    MappedValues(base: self, codec: codec)
  }
}

/// A source or cache of values that are kept encoded.
public struct MappedValues<Base: Source, NewValue: Sendable>: Source {
  /// What is asked for.
  public typealias Key = Base.Key

  /// What is answered.
  public typealias Value = NewValue

  @usableFromInline let base: Base
  @usableFromInline let codec: Codec<Base.Value, NewValue>
  @usableFromInline let pending = PendingTellings<Key>()

  @inlinable
  init(base: Base, codec: Codec<Base.Value, NewValue>) {
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
    switch codec.way {
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
      pending.wait(for: key) {
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
  }

  /// What the base has at once, decoded at once.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> NewValue? {
    guard case .now(_, let decode) = codec.way, let value = base.now(key, lookup) else {
      return nil
    }
    return try? decode(value)
  }

  /// Tells the base, encoded.
  @inlinable
  public func apply(_ change: Change<Key, NewValue>) -> Signal<Void> {
    switch codec.way {
    case .now(let encode, _): applyNow(change, encode)
    case .later(let encode, _): applyLater(change, encode)
    }
  }

  @inlinable
  func applyNow(
    _ change: Change<Key, NewValue>, _ encode: @Sendable (NewValue) throws -> Base.Value
  ) -> Signal<Void> {
    do {
      switch change {
      case .set(let key, let value, let revision):
        return base.apply(.set(key, try encode(value), revision))
      case .remove(let key, let revision): return base.apply(.remove(key, revision))
      case .removeAll(let revision): return base.apply(.removeAll(revision))
      case .fill(let key, let stamped, let mark):
        return base.apply(.fill(key, try stamped.map(encode), mark))
      }
    } catch {
      return .fail(error)
    }
  }

  @inlinable
  func applyLater(
    _ change: Change<Key, NewValue>,
    _ encode: @escaping @Sendable (NewValue) async throws -> Base.Value
  ) -> Signal<Void> {
    switch change {
    case .set(let key, let value, let revision):
      pending.tell(key) {
        Signal.async { try await encode(value) }.flatMap { base.apply(.set(key, $0, revision)) }
      }
    case .remove(let key, let revision): pending.tell(key) { base.apply(.remove(key, revision)) }
    case .removeAll(let revision): pending.tellAll { base.apply(.removeAll(revision)) }
    case .fill(let key, let stamped, let mark):
      Signal.async { try await encode(stamped.value) }
        .flatMap { encoded in base.apply(.fill(key, stamped.map { _ in encoded }, mark)) }
        .started()
    }
  }

  /// The mark of the base.
  ///
  /// A telling that still waits to be encoded has not reached the base: then every fill is refused.
  @inlinable
  public func mark(for key: Key) -> Mark {
    pending.isPending(key) ? .told(.none) : base.mark(for: key)
  }

  /// The base, and the codec.
  public func layout(for key: Key?) -> Layout {
    Layout(.wrapper, "values mapped", of: base.layout(for: key))
  }
}

extension MappedValues: Cache where Base: Cache {}
