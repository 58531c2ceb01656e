/// Turns values into what a layer keeps, and back.
///
/// Both directions may throw: then the layer does not keep the value, or has none.
public struct Codec<Encoded: Sendable, Decoded: Sendable>: Sendable {
  @usableFromInline enum Way: Sendable {
    case now(@Sendable (Decoded) throws -> Encoded, @Sendable (Encoded) throws -> Decoded)
    case later(
      @Sendable (Decoded) async throws -> Encoded, @Sendable (Encoded) async throws -> Decoded)
  }

  @usableFromInline let way: Way

  /// A codec that works on the thread of the caller.
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

  /// A codec that works in tasks: they are cancelled when nobody waits for them.
  @inlinable
  public static func asynchronous(
    encode: @escaping @Sendable (Decoded) async throws -> Encoded,
    decode: @escaping @Sendable (Encoded) async throws -> Decoded
  ) -> Codec {
    Codec(way: .later(encode, decode))
  }
}

extension Codec {
  /// Decodes by this codec first and then by `next`, and encodes the other way round.
  ///
  /// What either throws is thrown. The result works in tasks if one of the two does.
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

  /// The same codec with its ends exchanged: it encodes what this one decodes.
  @inlinable
  public var inverted: Codec<Decoded, Encoded> {
    switch way {
    case .now(let encode, let decode): Codec<Decoded, Encoded>(encode: decode, decode: encode)
    case .later(let encode, let decode): .asynchronous(encode: decode, decode: encode)
    }
  }
}

extension Codec where Encoded == Decoded {
  /// Leaves everything as it is.
  public static var identity: Codec {
    Codec(encode: { $0 }, decode: { $0 })
  }
}

extension Codec.Way {
  /// Both directions, as if they took time.
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
