/// Where entries are, by their hashes: an open-addressed table of words, each a hash of 32 bits and
/// a slot, without tombstones.
@usableFromInline
struct MemoryIndex: Sendable {
  /// Zero is empty; else the hash in the upper half, the slot plus one in the lower.
  @usableFromInline var buckets: ContiguousArray<UInt64> = []
  @usableFromInline var mask = -1
  @usableFromInline var count = 0

  @inlinable
  init() {}

  /// The slot with this hash of which `isIt` is true.
  @inlinable
  func find(_ hash: UInt32, _ isIt: (Slot) -> Bool) -> Slot? {
    if count == 0 { return nil }
    return buckets.withUnsafeBufferPointer { buckets in
      var bucket = Int(hash) & mask
      while true {
        let word = buckets[bucket]
        if word == 0 { return nil }
        if UInt32(truncatingIfNeeded: word >> 32) == hash {
          let slot = Slot(truncatingIfNeeded: word) &- 1
          if isIt(slot) { return slot }
        }
        bucket = (bucket &+ 1) & mask
      }
    }
  }

  @usableFromInline
  mutating func insert(_ hash: UInt32, _ slot: Slot) {
    if count * 4 >= buckets.count * 3 { grow() }
    place(UInt64(hash) << 32 | UInt64(slot + 1))
    count += 1
  }

  /// Takes a slot out that is in, and moves up those behind it that had been pushed on.
  @usableFromInline
  mutating func remove(_ hash: UInt32, _ slot: Slot) {
    guard count > 0 else { return }
    let word = UInt64(hash) << 32 | UInt64(slot + 1)
    var hole = Int(hash) & mask
    while buckets[hole] != word {
      if buckets[hole] == 0 { return }
      hole = (hole + 1) & mask
    }
    count -= 1
    var next = (hole + 1) & mask
    while buckets[next] != 0 {
      let home = Int(buckets[next] >> 32) & mask
      // It may move up unless its home lies behind the hole.
      if (next - home) & mask >= (next - hole) & mask {
        buckets[hole] = buckets[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    buckets[hole] = 0
  }

  private mutating func grow() {
    let words = buckets
    buckets = ContiguousArray(repeating: 0, count: max(8, words.count * 2))
    mask = buckets.count - 1
    for word in words where word != 0 { place(word) }
  }

  private mutating func place(_ word: UInt64) {
    var bucket = Int(word >> 32) & mask
    while buckets[bucket] != 0 { bucket = (bucket + 1) & mask }
    buckets[bucket] = word
  }
}
