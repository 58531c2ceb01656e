/// Numbers that look random and are the same in every run, on every machine.
///
/// - Source: SplitMix64 (Steele, Lea, Flood 2014).
struct SeededRandom {
  private var place: UInt64

  init(seed: UInt64) {
    place = seed
  }

  /// Returns a number from 0 up to, but not including, 1.
  mutating func fraction() -> Double {
    Double(next() >> 11) / Double(1 << 53)
  }

  /// Returns a number from 0 up to, but not including, `bound`.
  mutating func number(below bound: Int) -> Int {
    Int(fraction() * Double(bound))
  }

  private mutating func next() -> UInt64 {
    place &+= 0x9E37_79B9_7F4A_7C15
    var mixed = place
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
