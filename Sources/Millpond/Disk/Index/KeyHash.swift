/// By what a key is known in the index: 128 bits of a hash of its bytes.
///
/// Two keys of one hash are told apart by the key in the record; the later one takes the place of
/// the other.
struct KeyHash: Sendable, Hashable, BitwiseCopyable {
  let high: UInt64
  let low: UInt64

  init(_ key: UnsafeRawBufferPointer) {
    high = FoldHash.hash(key, seed: 1)
    low = FoldHash.hash(key, seed: 2)
  }

  init(of key: String) {
    var key = key
    self = key.withUTF8 { KeyHash(UnsafeRawBufferPointer($0)) }
  }

  init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// What the index, and the eviction order, look at first.
  var bits: UInt32 {
    UInt32(truncatingIfNeeded: high >> 32)
  }

  /// By what it is remembered what was told.
  var whole: Int {
    Int(truncatingIfNeeded: low)
  }
}
