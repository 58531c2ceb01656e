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

extension Codec where Encoded == Data, Decoded: Codable {
  /// Keeps values as binary property lists: smaller than JSON where there is data or dates in them.
  ///
  /// A property list is an array or a dictionary: a lone string or number can't be encoded.
  ///
  /// - Parameter type: What is kept; may be left out where it is known otherwise.
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
  /// Keeps text as UTF-8.
  ///
  /// Bytes that are not valid UTF-8 are no text: to decode them throws a `DecodingError`, and no
  /// other text is put in their place.
  public static var utf8: Codec { Codec(encode: { Data($0.utf8) }, decode: { try text($0) }) }

  private static func text(_ bytes: Data) throws -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [], debugDescription: "\(bytes.count) bytes that are not UTF-8"))
    }
    return text
  }
}
