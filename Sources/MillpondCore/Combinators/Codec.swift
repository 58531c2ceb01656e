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

extension Codec where Encoded == Decoded {
  /// Leaves everything as it is.
  public static var identity: Codec {
    Codec(encode: { $0 }, decode: { $0 })
  }
}
