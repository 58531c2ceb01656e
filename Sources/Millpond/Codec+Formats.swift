public import Foundation
public import MillpondCore

extension Codec where Encoded == Data, Decoded: Codable {
  /// Returns a codec that stores values as JSON.
  ///
  ///     let users = disk.mapValues(.json(User.self))
  ///
  /// - Parameters:
  ///   - type: The type of the values, if it can't be inferred.
  ///   - encoder: Makes an encoder for each value: encoders have mutable settings, and no platform
  ///     promises that two threads may share one.
  ///   - decoder: Makes a decoder for each value.
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

extension Codec where Encoded == Data, Decoded: Codable {
  /// Returns a codec that stores values as binary property lists, which are smaller than JSON for
  /// data and dates.
  ///
  /// A property list is an array or a dictionary: a lone string or number can't be encoded.
  ///
  /// - Parameter type: The type of the values, if it can't be inferred.
  public static func propertyList(_ type: Decoded.Type = Decoded.self) -> Codec {
    Codec(
      encode: { value in
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return try encoder.encode(value)
      },
      decode: { try PropertyListDecoder().decode(Decoded.self, from: $0) })
  }
}

extension Codec where Encoded == Data, Decoded == String {
  /// A codec that stores text as UTF-8.
  ///
  /// Decoding invalid UTF-8 throws a `DecodingError`; nothing is replaced.
  public static var utf8: Codec { Codec(encode: { Data($0.utf8) }, decode: { try text($0) }) }

  private static func text(_ bytes: Data) throws -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [], debugDescription: "\(bytes.count) bytes that are not UTF-8"))
    }
    return text
  }
}
