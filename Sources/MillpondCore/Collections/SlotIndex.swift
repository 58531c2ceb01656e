/// An index of slots by hash: an open-addressed table of words, each with a 32-bit hash and a slot,
/// without tombstones.
///
/// The home of a hash is its position in the range of buckets, so that any number of buckets is
/// possible. Two of five stay empty, so that runs stay short.
@usableFromInline
@frozen
package struct SlotIndex: Sendable {
  /// The buckets: zero is empty; otherwise the hash in the upper half, and the slot plus one in the
  /// lower.
  @usableFromInline var buckets = Buckets(count: 1)
  @usableFromInline package var count = 0

  @inlinable
  package init() {}

  /// The first bucket; there is always at least one.
  @inlinable
  var places: UnsafePointer<UInt64> {
    UnsafePointer(buckets.base)
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
    if wanted > buckets.count { rebuild(wanted) }
  }

  /// Gives back the buckets that `capacity` entries do not need; it must have room for all of them.
  @usableFromInline
  mutating func shrink(_ capacity: Int) {
    let wanted = capacity + capacity * 2 / 3 + 2
    if wanted < buckets.count { rebuild(wanted) }
  }

  private mutating func rebuild(_ bucketCount: Int) {
    let words = buckets
    buckets = Buckets(count: bucketCount)
    for word in words where word != 0 { place(word) }
  }

  @usableFromInline
  package mutating func insert(_ hash: UInt32, _ slot: Slot) {
    insert(UInt64(hash) << 32 | UInt64(slot + 1))
  }

  /// Inserts a word of another index.
  mutating func insert(_ word: UInt64) {
    if (count + 1) * 5 > buckets.count * 3 { reserve(max(8, count * 2)) }
    place(word)
    count += 1
  }

  /// Inserts many slots, none of which is in the index yet.
  package mutating func insert(_ slots: Range<Slot>, hash: (Slot) -> UInt32) {
    // With room for the next, so that these do not rebuild it.
    reserve((count + slots.count) * 9 / 8)
    for slot in slots { insert(hash(slot), slot) }
  }

  /// Records that an entry has moved to another slot; does nothing if it is not found.
  @usableFromInline
  package mutating func move(_ hash: UInt32, from old: Slot, to new: Slot) {
    let word = UInt64(hash) << 32 | UInt64(old + 1)
    var bucket = Self.home(of: hash, buckets.count)
    while buckets[bucket] != word {
      if buckets[bucket] == 0 { return }
      bucket = self.bucket(after: bucket)
    }
    buckets[bucket] = UInt64(hash) << 32 | UInt64(new + 1)
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

  /// Removes a slot, and gives back the buckets if three quarters of their room are not used.
  @usableFromInline
  package mutating func removeShrinking(_ hash: UInt32, _ slot: Slot) {
    remove(hash, slot)
    if buckets.count > 1_024, count * 20 < buckets.count * 3 { shrink(count * 2) }
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

/// The buckets of an index, side by side; all are empty at first.
///
/// Not a value: copies share the memory, as those of a ``ChunkedArray`` do.
@usableFromInline
struct Buckets: RandomAccessCollection, Sendable {
  @usableFromInline nonisolated(unsafe) let base: UnsafeMutablePointer<UInt64>
  @usableFromInline let count: Int
  private let memory: BucketMemory

  @usableFromInline
  init(count: Int) {
    memory = BucketMemory(count: count)
    (base, self.count) = (memory.base, count)
  }

  @inlinable var startIndex: Int { 0 }
  @inlinable var endIndex: Int { count }

  @inlinable
  subscript(index: Int) -> UInt64 {
    get { base[index] }
    nonmutating set { base[index] = newValue }
  }
}

/// The memory of buckets, which it frees at its end.
private final class BucketMemory: Sendable {
  nonisolated(unsafe) let base: UnsafeMutablePointer<UInt64>

  init(count: Int) {
    base = .allocate(capacity: count)
    base.initialize(repeating: 0, count: count)
  }

  deinit {
    base.deallocate()
  }
}
