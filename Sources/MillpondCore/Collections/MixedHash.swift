extension Hashable {
  /// The hash with its bits mixed, since a type may define a poor `hashValue`, such as small
  /// numbers or numbers that differ only in their high bits.
  ///
  /// - Source: multiplicative hashing, Knuth, volume 3, 6.4; the constant is 2⁶⁴ over the golden
  ///   ratio.
  @inlinable
  package var mixedHash: Int {
    var mixed = UInt64(bitPattern: Int64(hashValue))
    mixed ^= mixed &>> 32
    mixed &*= 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: mixed ^ mixed &>> 32)
  }
}
