/// The checksum that ends every chunk of a PNG file.
///
/// - Source: RFC 2083 §15 (the polynomial of ISO 3309, bits reversed).
struct CRC32 {
  private var register: UInt32 = 0xFFFF_FFFF

  /// The checksum of everything added so far.
  var checksum: UInt32 { ~register }

  mutating func add(_ bytes: some Sequence<UInt8>) {
    for byte in bytes {
      register = Self.remainders[Int(UInt8(truncatingIfNeeded: register) ^ byte)] ^ (register >> 8)
    }
  }

  private static let remainders: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { rest, _ in
      rest & 1 == 1 ? 0xEDB8_8320 ^ (rest >> 1) : rest >> 1
    }
  }
}
