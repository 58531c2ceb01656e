public import Foundation
public import MillpondCore

extension Codec where Encoded == Data, Decoded: Codable {
  /// Keeps values as JSON.
  ///
  ///     let users = disk.mapValues(.json(User.self))
  ///
  /// - Parameters:
  ///   - type: What is kept; may be left out where it is known otherwise.
  ///   - encoder: Makes an encoder, for each value anew: it has settings that can be changed, and
  ///     no platform promises that two threads may use one.
  ///   - decoder: Makes a decoder, for each value anew.
  public static func json(
    _ type: Decoded.Type = Decoded.self,
    encoder: @escaping @Sendable () -> JSONEncoder = { JSONEncoder() },
    decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
  ) -> Codec {
    Codec(
      encode: { try encoder().encode($0) },
      decode: { try decoder().decode(Decoded.self, from: $0) })
  }
}
