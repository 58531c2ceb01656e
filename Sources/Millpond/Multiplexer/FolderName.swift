/// Names of folders for names of any kind: different ones for different names, also where upper and
/// lower case are the same.
enum FolderName {
  /// Small letters, digits and hyphens stay; all else is written as bytes in hexadecimal.
  static func encoded(_ name: String) -> String {
    if name.isEmpty { return "%" }
    var text: [UInt8] = []
    for byte in name.utf8 {
      switch byte {
      case 0x61...0x7A, 0x30...0x39, 0x2D: text.append(byte)
      default: text += [0x25, digit(byte >> 4), digit(byte & 15)]
      }
    }
    let encoded = String(decoding: text.prefix(longest), as: UTF8.self)
    return text.count <= longest ? encoded : encoded + "%%" + sum(of: name)
  }

  /// Tells names apart that no volume would take whole.
  private static func sum(of name: String) -> String {
    var name = name
    return name.withUTF8 { String(FoldHash.hash(UnsafeRawBufferPointer($0), seed: 0), radix: 16) }
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? 0x30 + value : 0x57 + value
  }

  private static var longest: Int { 180 }
}
