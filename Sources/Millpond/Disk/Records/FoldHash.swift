/// A 64-bit hash by multiplying and folding: not cryptographic, but it detects accidental damage.
///
/// The results are written to disk as names and checksums, so the function must never change.
enum FoldHash {
  /// The constants of the hash.
  ///
  /// - Source: the multiply-fold step is that of wyhash; the primes are the golden ratio's and
  ///   those next to the square roots of small numbers.
  private static let salts: (UInt64, UInt64, UInt64, UInt64) = (
    0x9E37_79B9_7F4A_7C15, 0xBB67_AE85_84CA_A73B, 0x3C6E_F372_FE94_F82B, 0xA54F_F53A_5F1D_36F1
  )

  /// Hashes `bytes`; to hash several parts, pass each hash as the seed of the next.
  static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
    let salts = salts
    var first = seed ^ salts.0
    var offset = 0
    if bytes.count >= 64 {
      var (second, third, fourth) = (seed ^ salts.1, seed ^ salts.2, seed ^ salts.3)
      // Four independent chains, which the processor computes in parallel.
      repeat {
        first = step(bytes, offset, first, salts.1)
        second = step(bytes, offset + 16, second, salts.2)
        third = step(bytes, offset + 32, third, salts.3)
        fourth = step(bytes, offset + 48, fourth, salts.0)
        offset += 64
      } while bytes.count - offset >= 64
      first = fold(first ^ salts.3, second ^ salts.0) ^ fold(third ^ salts.1, fourth ^ salts.2)
    }
    while bytes.count - offset >= 16 {
      first = step(bytes, offset, first, salts.1)
      offset += 16
    }
    let (low, high) = rest(of: bytes, from: offset)
    first = fold(low ^ salts.1, high ^ first)
    // The length distinguishes a padded rest from one that ends in zeros.
    return fold(first ^ salts.2, UInt64(truncatingIfNeeded: bytes.count) ^ salts.3 ^ first)
  }

  /// Hashes the UTF-8 of a text.
  static func hash(_ text: String, seed: UInt64) -> UInt64 {
    var text = text
    return text.withUTF8 { hash(UnsafeRawBufferPointer($0), seed: seed) }
  }

  private static func step(
    _ bytes: UnsafeRawBufferPointer, _ offset: Int, _ state: UInt64, _ salt: UInt64
  ) -> UInt64 {
    let low = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    let high = bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)
    return fold(UInt64(littleEndian: low) ^ salt, UInt64(littleEndian: high) ^ state)
  }

  private static func fold(_ first: UInt64, _ second: UInt64) -> UInt64 {
    let product = first.multipliedFullWidth(by: second)
    return product.high ^ product.low
  }

  /// Returns the last bytes, fewer than sixteen, as two words: the lowest first, padded with zeros.
  private static func rest(
    of bytes: UnsafeRawBufferPointer, from offset: Int
  ) -> (low: UInt64, high: UInt64) {
    let count = bytes.count - offset
    if count > 8 {
      let low = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      return (UInt64(littleEndian: low), lastWord(bytes) >> UInt64(128 - 8 * count))
    }
    if bytes.count >= 8 { return (count == 0 ? 0 : lastWord(bytes) >> UInt64(64 - 8 * count), 0) }
    var low: UInt64 = 0
    for place in stride(from: bytes.count - 1, through: offset, by: -1) {
      low = low << 8 | UInt64(bytes[place])
    }
    return (low, 0)
  }

  /// Returns the last eight bytes as a number; the caller shifts out those that it has hashed.
  private static func lastWord(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    let word = bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self)
    return UInt64(littleEndian: word)
  }
}
