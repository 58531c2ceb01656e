/// Memory for pairs of keys and values, of which only used slots are initialised.
///
/// Sendable because it belongs to one store, which is under one lock.
@usableFromInline
@_fixed_layout
final class MemorySlab<Key, Value>: @unchecked Sendable {
  @usableFromInline
  @frozen
  struct Pair {
    @usableFromInline var key: Key
    @usableFromInline var value: Value

    @inlinable
    init(key: Key, value: Value) {
      self.key = key
      self.value = value
    }
  }

  // Only one store uses it, so accesses can't overlap and need no checks for that.
  @exclusivity(unchecked) @usableFromInline var pairs: UnsafeMutablePointer<Pair>
  @exclusivity(unchecked) @usableFromInline var isUsed = ChunkedArray<Bool>()
  @exclusivity(unchecked) @usableFromInline var capacity = 0

  @inlinable
  init() {
    pairs = .allocate(capacity: 0)
  }

  deinit {
    for slot in 0..<isUsed.count where isUsed[slot] { (pairs + slot).deinitialize(count: 1) }
    pairs.deallocate()
  }

  /// Moves to larger or smaller memory.
  ///
  /// - Parameters:
  ///   - newCapacity: The number of slots.
  ///   - isFull: Whether all slots are used, so that they are moved together.
  @inlinable
  func resize(to newCapacity: Int, isFull: Bool = false) {
    let memory = UnsafeMutablePointer<Pair>.allocate(capacity: newCapacity)
    if isFull {
      memory.moveInitialize(from: pairs, count: isUsed.count)
    } else {
      for slot in 0..<isUsed.count where isUsed[slot] {
        (memory + slot).moveInitialize(from: pairs + slot, count: 1)
      }
    }
    pairs.deallocate()
    pairs = memory
    capacity = newCapacity
    isUsed.reserve(newCapacity)
  }

  /// Fills a free slot.
  @inlinable
  func fill(_ slot: Slot, _ key: Key, _ value: Value) {
    (pairs + Int(slot)).initialize(to: Pair(key: key, value: value))
    isUsed.put(true, at: slot)
  }

  /// Frees a used slot.
  @inlinable
  func take(_ slot: Slot) -> (key: Key, value: Value) {
    isUsed[slot] = false
    let pair = (pairs + Int(slot)).move()
    return (pair.key, pair.value)
  }

  /// Moves the pair of the last slot to a free one, unless that is the same, and gives up the last.
  func removeLast(to place: Slot) {
    let last = Slot(isUsed.count - 1)
    if place != last {
      (pairs + Int(place)).moveInitialize(from: pairs + Int(last), count: 1)
      isUsed[place] = true
    }
    isUsed.removeLast()
  }

  /// Replaces the value in a used slot.
  @inlinable
  func exchange(_ slot: Slot, _ value: Value) -> Value {
    let old = pairs[Int(slot)].value
    pairs[Int(slot)].value = value
    return old
  }
}

/// The hash of a key, computed once: the upper half selects the shard, the lower half the bucket.
@usableFromInline
@frozen
struct MemoryHash: Sendable {
  @usableFromInline let whole: Int

  @inlinable
  init(_ key: some Hashable) {
    whole = key.mixedHash
  }

  @inlinable
  var bits: UInt32 {
    UInt32(truncatingIfNeeded: whole)
  }

  @inlinable
  func shard(_ mask: Int) -> Int {
    (whole >> (Int.bitWidth / 2)) & mask
  }
}
