/// The checksum of a large value, piece by piece: each hash is the seed of the next.
struct LargeSum {
  /// All pieces but the last have this size.
  static let pieceSize = 262_144

  private(set) var sum: UInt64 = 5

  mutating func add(_ piece: UnsafeRawBufferPointer) {
    sum = FoldHash.hash(piece, seed: sum)
  }
}
