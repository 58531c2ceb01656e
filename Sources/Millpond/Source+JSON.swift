public import Foundation
public import MillpondCore

extension Source where Value == Data {
  /// Answers values decoded from JSON.
  ///
  ///     let users = HTTPSource(baseURL: api).json(User.self)
  ///
  /// An answer that can't be decoded fails the get with
  /// ``/MillpondCore/CacheError/undecodable(key:underlying:)``. Of a cache it is the reading side: for
  /// writes the type has to be `Codable`.
  ///
  /// - Parameters:
  ///   - type: The type of the values, if it can't be inferred.
  ///   - decoder: Makes a decoder for each value: decoders have mutable settings, and no platform
  ///     promises that two threads may share one.
  public func json<Decoded: Decodable & Sendable>(
    _ type: Decoded.Type = Decoded.self,
    decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
  ) -> some Source<Key, Decoded> {
    let isCache = self is any Cache
    return mapValues(
      encode: { _ in
        if isCache { throw CacheError.unsupported(layer: "json", write: "a value to encode") }
        return Data()  // an origin keeps nothing of a write
      },
      decode: { try decoder().decode(Decoded.self, from: $0) })
  }
}

extension Cache where Value == Data {
  /// Stores values as JSON; the same as `mapValues(.json(User.self))`.
  ///
  ///     let users = DiskCache(named: "users", byteLimit: .mebibytes(64)).json(User.self)
  ///
  /// A stored value that can't be decoded, for example because the type has changed, is a miss.
  ///
  /// - Parameters:
  ///   - type: The type of the values, if it can't be inferred.
  ///   - encoder: Makes an encoder for each value.
  ///   - decoder: Makes a decoder for each value.
  public func json<Decoded: Codable & Sendable>(
    _ type: Decoded.Type = Decoded.self,
    encoder: @escaping @Sendable () -> JSONEncoder = { JSONEncoder() },
    decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
  ) -> MappedValues<Self, Decoded> {
    mapValues(.json(type, encoder: encoder, decoder: decoder))
  }
}
