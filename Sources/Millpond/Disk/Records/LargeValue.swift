/// A value in a file of its own, and what it has to be like.
struct LargeValue: Sendable, BitwiseCopyable {
  /// Whose number in the file's name is never used again.
  let number: UInt64
  let length: UInt64
  let checksum: UInt64

  static let size = 24

  /// More is not stored, so that no sum of lengths overflows.
  static let greatestLength = 1 << 40

  /// The length, which fits.
  var count: Int { Int(length) }

  /// The payload of a record that stands for it.
  var bytes: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.size)
    bytes.withUnsafeMutableBytes { bytes in
      bytes.put(number, 0)
      bytes.put(length, 8)
      bytes.put(checksum, 16)
    }
    return bytes
  }

  init(number: UInt64, length: UInt64, checksum: UInt64) {
    self.number = number
    self.length = length
    self.checksum = checksum
  }

  /// Nil if it is no such payload.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count == Self.size else { return nil }
    let numbers = [0, 8, 16].map { bytes.number($0, UInt64.self) }
    guard numbers[1] <= UInt64(Self.greatestLength) else { return nil }
    self.init(number: numbers[0], length: numbers[1], checksum: numbers[2])
  }
}
