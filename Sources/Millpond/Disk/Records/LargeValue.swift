/// A value in a file of its own, and what it has to be like.
struct LargeValue: Sendable, BitwiseCopyable {
  /// The number in the name of the file, which is never used again.
  let number: UInt64
  let length: UInt64
  let checksum: UInt64

  static let size = 24

  /// More is not stored, so that no sum of lengths overflows.
  static let greatestLength = 1 << 40

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

/// The checksum of a large value, piece by piece.
///
/// Eight sums of the words in turn, and sums of those, so that it matters where a word stands: no bit
/// that has changed, no part that is elsewhere or missing, gets past it but by a chance of one in 2^64.
/// Words have the byte order of the machine: on one of the other order a value counts as damaged.
/// It takes a third of the time of ``FoldHash``, which would be half as much as to read the value.
///
/// - Source: Fletcher's checksum (1982), with words of 64 bits; measured: `millpond-bench disk-get-256k`.
struct LargeSum {
  /// All pieces but the last have this size.
  static let pieceSize = 262_144

  private static let blockSize = 64
  private var sums = SIMD8<UInt64>(repeating: 1)
  private var sumsOfSums = SIMD8<UInt64>(repeating: 1)
  private var count: UInt64 = 0

  init() {}

  init(of value: UnsafeRawBufferPointer) {
    self.init()
    add(value)
  }

  mutating func add(_ piece: UnsafeRawBufferPointer) {
    var (sums, sumsOfSums) = (sums, sumsOfSums)
    var offset = 0
    while piece.count - offset >= Self.blockSize {
      let block = piece.loadUnaligned(fromByteOffset: offset, as: SIMD8<UInt64>.self)
      sums &+= block
      sumsOfSums &+= sums
      offset += Self.blockSize
    }
    if offset < piece.count {
      var last = SIMD8<UInt64>(repeating: 0)
      withUnsafeMutableBytes(of: &last) {
        $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: piece[offset...]))
      }
      sums &+= last
      sumsOfSums &+= sums
    }
    (self.sums, self.sumsOfSums) = (sums, sumsOfSums)
    count += UInt64(piece.count)
  }

  var sum: UInt64 {
    let lanes = (0..<8).flatMap { [sums[$0], sumsOfSums[$0]] }
    return lanes.withUnsafeBytes { FoldHash.hash($0, seed: count) }
  }
}
