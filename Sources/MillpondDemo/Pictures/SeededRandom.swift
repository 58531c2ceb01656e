/// A generator of pseudorandom numbers that are the same in every run, on every machine.
///
/// `Hasher` and the system's generator differ from run to run, and a second run of the demo has to
/// find the pictures and comments of the first.
///
/// - Source: FNV-1a for the seed, SplitMix64 (Steele, Lea, Flood 2014) for the numbers.
struct SeededRandom {
  private var place: UInt64

  init(seed: String) {
    place = seed.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
  }

  /// Returns a number from 0 up to, but not including, `bound`; 0 if `bound` is below 2.
  mutating func number(below bound: Int) -> Int {
    // The tiny bias of the remainder does not matter for pictures and sentences.
    bound > 1 ? Int(next() % UInt64(bound)) : 0
  }

  private mutating func next() -> UInt64 {
    place &+= 0x9E37_79B9_7F4A_7C15
    var mixed = place
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
