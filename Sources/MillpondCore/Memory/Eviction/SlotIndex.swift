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

/// An index of slots by hash: an open-addressed table of words, each with a 32-bit hash and a slot,
/// without tombstones.
///
/// The home of a hash is its position in the range of buckets, so that any number of buckets is
/// possible. Two of five stay empty, so that runs stay short.
@usableFromInline
package struct SlotIndex: Sendable {
  /// The buckets: zero is empty; otherwise the hash in the upper half, and the slot plus one in the
  /// lower.
  @usableFromInline var buckets = Column<UInt64>(repeating: 0, count: 1)
  @usableFromInline package var count = 0

  @inlinable
  package init() {}

  /// The first bucket; there is always at least one.
  @inlinable
  var places: UnsafePointer<UInt64> {
    UnsafePointer(buckets.base.unsafelyUnwrapped)
  }

  /// Returns the slot with this hash for which `isIt` is true; some of the buckets must be empty.
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

  /// Returns the slot with this hash for which `isIt` is true.
  @inlinable
  package func find(_ hash: UInt32, _ isIt: (Slot) -> Bool) -> Slot? {
    Self.find(hash, in: places, buckets.count, isIt)
  }

  /// Makes room for `capacity` entries.
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

  /// Inserts many slots, none of which is in the index yet.
  ///
  /// It does nothing else in between, so that the waits for buckets to arrive from memory overlap.
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

  /// Removes a slot, and moves up the displaced slots behind it.
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
      // It may move up unless its home is behind the hole.
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
