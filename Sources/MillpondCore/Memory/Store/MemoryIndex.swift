/// Where entries are, by their hashes: an open-addressed table of words, each a hash of 32 bits and
/// a slot, without tombstones.
@usableFromInline
struct MemoryIndex: Sendable {
  /// Zero is empty; else the hash in the upper half, the slot plus one in the lower.
  @usableFromInline var buckets = Column<UInt64>(repeating: 0, count: 1)
  @usableFromInline var mask = 0
  @usableFromInline var count = 0

  @inlinable
  init() {}

  /// The slot with this hash of which `isIt` is true, in buckets of which some are empty.
  @inlinable
  static func find(
    _ hash: UInt32, in buckets: UnsafePointer<UInt64>, _ mask: Int, _ isIt: (Slot) -> Bool
  ) -> Slot? {
    var bucket = Int(hash) & mask
    while true {
      let word = buckets[bucket]
      if word == 0 { return nil }
      if UInt32(truncatingIfNeeded: word &>> 32) == hash {
        let slot = Slot(truncatingIfNeeded: word) &- 1
        if isIt(slot) { return slot }
      }
      bucket = (bucket &+ 1) & mask
    }
  }

  @usableFromInline
  mutating func insert(_ hash: UInt32, _ slot: Slot) {
    if (count + 1) * 4 > buckets.count * 3 { grow() }
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
    buckets = Column(repeating: 0, count: max(8, words.count * 2))
    mask = buckets.count - 1
    for index in 0..<words.count where words[index] != 0 { place(words[index]) }
  }

  private mutating func place(_ word: UInt64) {
    var bucket = Int(word >> 32) & mask
    while buckets[bucket] != 0 { bucket = (bucket + 1) & mask }
    buckets[bucket] = word
  }
}
