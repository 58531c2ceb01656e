/// The slots of a cluster, each of which has one primary.
///
/// - Source: https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/
enum ClusterSlot {
  static let count = 16_384

  /// Returns the slot of a key: of what stands between its first braces, or of the whole.
  static func of(_ key: RedisKey) -> Int {
    var key = key.prefix + key.key
    let slot = key.withUTF8 { bytes in
      guard let start = bytes.firstIndex(of: UInt8(ascii: "{")),
        let end = bytes[(start + 1)...].firstIndex(of: UInt8(ascii: "}")), end > start + 1
      else { return checksum(bytes[...]) }
      return checksum(bytes[(start + 1)..<end])
    }
    return Int(slot) % count
  }

  /// The checksum CRC-16/XMODEM.
  private static func checksum(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> UInt16 {
    var sum: UInt16 = 0
    for byte in bytes { sum = sum << 8 ^ table[Int(UInt8(sum >> 8) ^ byte)] }
    return sum
  }

  private static let table: [UInt16] = (0..<256).map { index in
    (0..<8).reduce(UInt16(index) << 8) { sum, _ in sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x1021
    }
  }
}
