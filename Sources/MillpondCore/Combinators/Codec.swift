/// A conversion of values to the form in which a layer stores them, and back.
///
/// Both directions can throw: then the layer does not store the value, or does not have one. Carlos
/// calls this a `TwoWayTransformer`.
@frozen
public struct Codec<Encoded: Sendable, Decoded: Sendable>: Sendable {
  @usableFromInline enum Way: Sendable {
    case now(@Sendable (Decoded) throws -> Encoded, @Sendable (Encoded) throws -> Decoded)
    case later(
      @Sendable (Decoded) async throws -> Encoded, @Sendable (Encoded) async throws -> Decoded)
  }

  @usableFromInline let way: Way

  /// Creates a codec that works on the caller's thread.
  ///
  /// - Parameters:
  ///   - encode: Returns the form in which a value is stored.
  ///   - decode: Returns the value of a stored form; throws if it has none.
  @inlinable
  public init(
    encode: @escaping @Sendable (Decoded) throws -> Encoded,
    decode: @escaping @Sendable (Encoded) throws -> Decoded
  ) {
    way = .now(encode, decode)
  }

  @inlinable
  init(way: Way) {
    self.way = way
  }

  /// Returns a codec that works in tasks, which are cancelled when no caller waits for them.
  ///
  /// - Parameters:
  ///   - encode: Returns the form in which a value is stored.
  ///   - decode: Returns the value of a stored form; throws if it has none.
  @inlinable
  public static func asynchronous(
    encode: @escaping @Sendable (Decoded) async throws -> Encoded,
    decode: @escaping @Sendable (Encoded) async throws -> Decoded
  ) -> Codec {
    Codec(way: .later(encode, decode))
  }

  /// The decoder, if the codec works on the caller's thread.
  @inlinable
  var decodeAtOnce: (@Sendable (Encoded) throws -> Decoded)? {
    if case .now(_, let decode) = way { decode } else { nil }
  }
}

extension Codec {
  /// Encodes a value, apart from any cache.
  ///
  ///     let same = try await codec.decode(codec.encode(profile))
  ///
  /// - Throws: The error of the codec, unchanged.
  @inlinable
  public func encode(_ value: Decoded) async throws -> Encoded {
    switch way {
    case .now(let encode, _): try encode(value)
    case .later(let encode, _): try await encode(value)
    }
  }

  /// Decodes a value, apart from any cache.
  ///
  /// - Throws: The error of the codec, unchanged.
  @inlinable
  public func decode(_ value: Encoded) async throws -> Decoded {
    switch way {
    case .now(_, let decode): try decode(value)
    case .later(_, let decode): try await decode(value)
    }
  }

  /// Returns a codec that refuses values which do not satisfy a condition.
  ///
  ///     let small = Codec.json(Profile.self).conditioned(decoding: { $0.count < .mebibytes(1) })
  ///
  /// A refusal fails with ``CacheError/refusedValue(type:)``; errors of the conditions pass
  /// unchanged. As with any value that a codec cannot convert, a refused set fails and a refused
  /// cached value is a miss. For a condition that takes time, throw from an
  /// ``asynchronous(encode:decode:)`` codec.
  ///
  /// - Parameters:
  ///   - isEncodable: The condition of values to be encoded, called before the codec.
  ///   - isDecodable: The condition of values to be decoded, called before the codec.
  @inlinable
  public func conditioned(
    encoding isEncodable: @escaping @Sendable (Decoded) throws -> Bool = { _ in true },
    decoding isDecodable: @escaping @Sendable (Encoded) throws -> Bool = { _ in true }
  ) -> Codec {
    let below = Codec<Encoded, Encoded>(
      encode: { $0 }, decode: { try Self.checked($0, isDecodable) })
    let above = Codec<Decoded, Decoded>(
      encode: { try Self.checked($0, isEncodable) }, decode: { $0 })
    return below.then(self).then(above)
  }

  @usableFromInline
  static func checked<Checked>(
    _ value: Checked, _ condition: (Checked) throws -> Bool
  ) throws -> Checked {
    guard try condition(value) else {
      throw CacheError.refusedValue(type: "\(Checked.self)")
    }
    return value
  }

  /// Returns a codec that decodes by this codec and then by `next`, and encodes in reverse order.
  ///
  /// Errors of either pass unchanged. The result works in tasks if either of the two does.
  @inlinable
  public func then<Further>(_ next: Codec<Decoded, Further>) -> Codec<Encoded, Further> {
    if case .now(let encode, let decode) = way,
      case .now(let nextEncode, let nextDecode) = next.way
    {
      return Codec<Encoded, Further>(
        encode: { try encode(try nextEncode($0)) }, decode: { try nextDecode(try decode($0)) })
    }
    let (encode, decode) = way.asynchronous
    let (nextEncode, nextDecode) = next.way.asynchronous
    return .asynchronous(
      encode: { try await encode(try await nextEncode($0)) },
      decode: { try await nextDecode(try await decode($0)) })
  }

  /// The reverse codec: it encodes what this one decodes.
  @inlinable
  public var inverted: Codec<Decoded, Encoded> {
    switch way {
    case .now(let encode, let decode): Codec<Decoded, Encoded>(encode: decode, decode: encode)
    case .later(let encode, let decode): .asynchronous(encode: decode, decode: encode)
    }
  }
}

extension Codec where Encoded == Decoded {
  /// A codec that changes nothing.
  public static var identity: Codec {
    Codec(encode: { $0 }, decode: { $0 })
  }
}

extension Codec.Way {
  /// Both directions as asynchronous functions.
  @inlinable
  var asynchronous:
    (
      encode: @Sendable (Decoded) async throws -> Encoded,
      decode: @Sendable (Encoded) async throws -> Decoded
    )
  {
    switch self {
    case .now(let encode, let decode): ({ try encode($0) }, { try decode($0) })
    case .later(let encode, let decode): (encode, decode)
    }
  }
}
