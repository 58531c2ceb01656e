import MillpondTesting

/// Numbers that are the same for the same seed.
struct SeededNumbers {
  private var generator: SeededGenerator

  init(_ seed: Int) {
    generator = SeededGenerator(seed: UInt64(seed))
  }

  /// Returns a number from zero up to, but not including, `end`.
  mutating func next(_ end: Int) -> Int {
    Int.random(in: 0..<end, using: &generator)
  }

  /// Returns a size up to `greatest`; as many are small, of any magnitude, as are large.
  mutating func size(upTo greatest: Int) -> Int {
    let magnitude = next(Int.bitWidth - greatest.leadingZeroBitCount + 1)
    return min(greatest, next(1 << magnitude))
  }

  mutating func bits() -> UInt64 {
    generator.next()
  }
}
