extension Hashable {
  /// The hash, with its bits mixed: a type may state a `hashValue` of its own, as small numbers, or
  /// numbers that differ in their high bits alone.
  ///
  /// - Source: multiplicative hashing, Knuth, volume 3, 6.4; the constant is 2⁶⁴ over the golden ratio.
  @inlinable
  package var mixedHash: Int {
    var mixed = UInt64(bitPattern: Int64(hashValue))
    mixed ^= mixed &>> 32
    mixed &*= 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: mixed ^ mixed &>> 32)
  }
}

/// Where entries are, by their hashes: an open-addressed table of words, each a hash of 32 bits and
/// a slot, without tombstones.
///
/// A hash has its home at its place in the range of buckets, so that there can be any number of
/// them: two of five are kept empty, so that what lies together stays short.
@usableFromInline
package struct SlotIndex: Sendable {
  /// Zero is empty; else the hash in the upper half, the slot plus one in the lower.
  @usableFromInline var buckets = Column<UInt64>(repeating: 0, count: 1)
  @usableFromInline package var count = 0

  @inlinable
  package init() {}

  /// The buckets, of which there is always one at least.
  @inlinable
  var places: UnsafePointer<UInt64> {
    UnsafePointer(buckets.base.unsafelyUnwrapped)
  }

  /// The slot with this hash of which `isIt` is true, in buckets of which some are empty.
  @inlinable
  static func find(
    _ hash: UInt32, in buckets: UnsafePointer<UInt64>, _ bucketCount: Int, _ isIt: (Slot) -> Bool
  ) -> Slot? {
    var bucket = home(of: hash, bucketCount)
    while true {
      let word = buckets[bucket]
      if word == 0 { return nil }
      if UInt32(truncatingIfNeeded: word &>> 32) == hash {
        let slot = Slot(truncatingIfNeeded: word) &- 1
        if isIt(slot) { return slot }
      }
      bucket &+= 1
      if bucket == bucketCount { bucket = 0 }
    }
  }

  /// The slot with this hash of which `isIt` is true.
  @inlinable
  package func find(_ hash: UInt32, _ isIt: (Slot) -> Bool) -> Slot? {
    Self.find(hash, in: places, buckets.count, isIt)
  }

  /// Makes room for so many entries.
  @usableFromInline
  package mutating func reserve(_ capacity: Int) {
    let wanted = capacity + capacity * 2 / 3 + 2
    guard wanted > buckets.count else { return }
    let words = buckets
    buckets = Column(repeating: 0, count: wanted)
    for index in 0..<words.count where words[index] != 0 { place(words[index]) }
  }

  @usableFromInline
  package mutating func insert(_ hash: UInt32, _ slot: Slot) {
    if (count + 1) * 5 > buckets.count * 3 { reserve(max(8, count * 2)) }
    place(UInt64(hash) << 32 | UInt64(slot + 1))
    count += 1
  }

  /// Puts many slots in, none of which is in yet.
  ///
  /// Nothing else is done in between, so that the waiting for one bucket to come from memory overlaps
  /// with that for the next ones.
  @inlinable
  package mutating func insert(_ slots: Range<Slot>, hash: (Slot) -> UInt32) {
    reserve(count + slots.count)
    let (buckets, bucketCount) = (buckets.base.unsafelyUnwrapped, buckets.count)
    for slot in slots {
      let hash = hash(slot)
      var place = Self.home(of: hash, bucketCount)
      while buckets[place] != 0 {
        place += 1
        if place == bucketCount { place = 0 }
      }
      buckets[place] = UInt64(hash) << 32 | UInt64(slot + 1)
    }
    count += slots.count
  }

  /// Takes a slot out that is in, and moves up those behind it that had been pushed on.
  @usableFromInline
  package mutating func remove(_ hash: UInt32, _ slot: Slot) {
    let word = UInt64(hash) << 32 | UInt64(slot + 1)
    var hole = Self.home(of: hash, buckets.count)
    while buckets[hole] != word {
      if buckets[hole] == 0 { return }
      hole = bucket(after: hole)
    }
    count -= 1
    var next = bucket(after: hole)
    var moved = buckets[next]
    while moved != 0 {
      let home = Self.home(of: UInt32(truncatingIfNeeded: moved >> 32), buckets.count)
      // It may move up unless its home lies behind the hole.
      if distance(from: home, to: next) >= distance(from: hole, to: next) {
        buckets[hole] = moved
        hole = next
      }
      next = bucket(after: next)
      moved = buckets[next]
    }
    buckets[hole] = 0
  }

  @inlinable
  static func home(of hash: UInt32, _ bucketCount: Int) -> Int {
    Int(truncatingIfNeeded: (UInt64(hash) &* UInt64(truncatingIfNeeded: bucketCount)) &>> 32)
  }

  private func bucket(after bucket: Int) -> Int {
    bucket + 1 == buckets.count ? 0 : bucket + 1
  }

  private func distance(from start: Int, to end: Int) -> Int {
    end >= start ? end - start : end - start + buckets.count
  }

  private func place(_ word: UInt64) {
    var place = Self.home(of: UInt32(truncatingIfNeeded: word >> 32), buckets.count)
    while buckets[place] != 0 { place = bucket(after: place) }
    buckets[place] = word
  }
}
