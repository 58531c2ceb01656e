/// The checksum that ends a zlib stream.
///
/// - Source: RFC 1950 §8.2.
struct Adler32 {
  private var low: UInt32 = 1
  private var high: UInt32 = 0

  /// The checksum of everything added so far.
  var checksum: UInt32 { high << 16 | low }

  mutating func add(_ bytes: some Sequence<UInt8>) {
    for byte in bytes {
      low = (low + UInt32(byte)) % 65_521
      high = (high + low) % 65_521
    }
  }
}
