public import Foundation
public import MillpondCore

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
