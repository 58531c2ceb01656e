/// A value in a file of its own, with its length and checksum.
struct FileValue: Sendable, BitwiseCopyable {
  /// The number in the name of the file, which is never used again.
  let number: UInt64
  let length: UInt64
  let checksum: UInt64

  static let size = 24

  /// The greatest length that is stored, so that no sum of lengths overflows.
  static let greatestLength = 1 << 40

  var count: Int { Int(length) }

  /// The payload of the value's record.
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

  /// Parses a payload; nil if it is not one of a large value.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count == Self.size else { return nil }
    let numbers = [0, 8, 16].map { bytes.number($0, UInt64.self) }
    guard numbers[1] <= UInt64(Self.greatestLength) else { return nil }
    self.init(number: numbers[0], length: numbers[1], checksum: numbers[2])
  }
}

/// The checksum of a large value, computed piece by piece.
///
/// It consists of eight sums of the words in turn, and of sums of those, so that the position of a
/// word matters: a changed bit, or a moved or missing part, stays undetected with a probability of
/// one in 2^64. Words have the machine's byte order, so on a machine of the other order a value
/// counts as damaged. It takes a third of the time of ``FoldHash``, which would be half the time of
/// reading the value.
///
/// - Source: Fletcher's checksum (1982), with words of 64 bits; measured: `millpond-bench
///   disk-get-4m`.
struct FileChecksum {
  /// The size of all pieces except the last.
  static let pieceSize = 262_144

  private static let blockSize = 64

  /// Whether the sum of so many bytes can be that of the first bytes of more.
  static func canGoOn(after count: Int) -> Bool { count.isMultiple(of: blockSize) }

  private var sums = SIMD8<UInt64>(repeating: 1)
  private var sumsOfSums = SIMD8<UInt64>(repeating: 1)
  private var count: UInt64 = 0

  init() {}

  @inline(never)
  init(of value: UnsafeRawBufferPointer) {
    self.init()
    add(value)
  }

  @inline(never)
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
