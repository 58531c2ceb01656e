/// A conversion of values to the form in which a layer stores them, and back.
///
/// Both directions can throw: then the layer does not store the value, or does not have one.
public struct Codec<Encoded: Sendable, Decoded: Sendable>: Sendable {
  @usableFromInline enum Way: Sendable {
    case now(@Sendable (Decoded) throws -> Encoded, @Sendable (Encoded) throws -> Decoded)
    case later(
      @Sendable (Decoded) async throws -> Encoded, @Sendable (Encoded) async throws -> Decoded)
  }

  @usableFromInline let way: Way

  /// Creates a codec that works on the caller's thread.
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
  @inlinable
  public static func asynchronous(
    encode: @escaping @Sendable (Decoded) async throws -> Encoded,
    decode: @escaping @Sendable (Encoded) async throws -> Decoded
  ) -> Codec {
    Codec(way: .later(encode, decode))
  }
}

extension Codec {
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
