public import Foundation

extension HTTPBody {
  /// Returns a value as JSON.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - encoder: The encoder.
  /// - Throws: The encoder's error.
  public static func json(
    _ value: some Encodable, encoder: JSONEncoder = JSONEncoder()
  ) throws -> HTTPBody {
    .data(try encoder.encode(value), contentType: "application/json")
  }

  /// Returns names and values as an HTML form sends them.
  ///
  /// - Parameter fields: The names and values, in the order in which they are sent; a name may
  ///   occur more than once.
  /// - Source: The URL standard §5.2, `application/x-www-form-urlencoded` serializing.
  public static func form(_ fields: KeyValuePairs<String, String>) -> HTTPBody {
    let text = fields.map { "\($0.key.formEncoded)=\($0.value.formEncoded)" }
    return .data(
      Data(text.joined(separator: "&").utf8), contentType: "application/x-www-form-urlencoded")
  }
}

extension String {
  fileprivate var formEncoded: String {
    let digits = Array("0123456789ABCDEF".utf8)
    var encoded: [UInt8] = []
    for byte in utf8 {
      switch byte {
      case UInt8(ascii: " "): encoded.append(UInt8(ascii: "+"))
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "*"), UInt8(ascii: "-"),
        UInt8(ascii: "."), UInt8(ascii: "_"):
        encoded.append(byte)
      default:
        encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }
}
