public import Foundation
public import MillpondCore

extension Codec where Encoded == Data, Decoded == String {
  /// Keeps text as UTF-8.
  ///
  /// Bytes that are not valid UTF-8 are no text: to decode them throws a `DecodingError`, and no
  /// other text is put in their place.
  public static var utf8: Codec {
    Codec(encode: { Data($0.utf8) }, decode: { try text($0) })
  }

  private static func text(_ bytes: Data) throws -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [], debugDescription: "\(bytes.count) bytes that are not UTF-8"))
    }
    return text
  }
}
