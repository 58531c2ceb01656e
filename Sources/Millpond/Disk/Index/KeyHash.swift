/// By what a key is known in the index: a hash of its bytes.
///
/// Two keys of one hash, of which there is hardly ever a pair, are told apart by the key in the
/// record; the later one takes the place of the other.
struct KeyHash: Sendable, Hashable, BitwiseCopyable {
  let value: UInt64

  init(value: UInt64) {
    self.value = value
  }

  init(_ key: UnsafeRawBufferPointer) {
    value = FoldHash.hash(key, seed: 1)
  }

  init(of key: String) {
    var key = key
    self = key.withUTF8 { KeyHash(UnsafeRawBufferPointer($0)) }
  }

  /// What the index, and the eviction order, look at first.
  var bits: UInt32 {
    UInt32(truncatingIfNeeded: value >> 32)
  }

  /// By what it is remembered what was told.
  var whole: Int {
    Int(truncatingIfNeeded: value)
  }
}
