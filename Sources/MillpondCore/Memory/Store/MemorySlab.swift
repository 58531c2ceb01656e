/// Keys and values side by side, in memory of which only what is used is initialised.
///
/// Sendable because it belongs to one store, which is under one lock.
@usableFromInline
final class MemorySlab<Key, Value>: @unchecked Sendable {
  @usableFromInline
  struct Pair {
    @usableFromInline var key: Key
    @usableFromInline var value: Value

    @inlinable
    init(key: Key, value: Value) {
      self.key = key
      self.value = value
    }
  }

  @usableFromInline var pairs: UnsafeMutablePointer<Pair>
  @usableFromInline var isUsed: ContiguousArray<Bool> = []
  @usableFromInline var capacity = 0

  @inlinable
  init() {
    pairs = .allocate(capacity: 0)
  }

  deinit {
    for slot in isUsed.indices where isUsed[slot] { (pairs + slot).deinitialize(count: 1) }
    pairs.deallocate()
  }

  /// Moves to larger memory.
  @inlinable
  func grow(to newCapacity: Int) {
    let larger = UnsafeMutablePointer<Pair>.allocate(capacity: newCapacity)
    for slot in isUsed.indices where isUsed[slot] {
      (larger + slot).moveInitialize(from: pairs + slot, count: 1)
    }
    pairs.deallocate()
    pairs = larger
    capacity = newCapacity
    isUsed.reserveCapacity(newCapacity)
  }

  /// Fills a slot that is free.
  @inlinable
  func fill(_ slot: Slot, _ key: Key, _ value: Value) {
    let slot = Int(slot)
    (pairs + slot).initialize(to: Pair(key: key, value: value))
    if slot == isUsed.count { isUsed.append(true) } else { isUsed[slot] = true }
  }

  /// Frees a slot that is used.
  @inlinable
  func take(_ slot: Slot) -> (key: Key, value: Value) {
    isUsed[Int(slot)] = false
    let pair = (pairs + Int(slot)).move()
    return (pair.key, pair.value)
  }

  /// Puts another value into a slot that is used.
  @inlinable
  func exchange(_ slot: Slot, _ value: Value) -> Value {
    let old = pairs[Int(slot)].value
    pairs[Int(slot)].value = value
    return old
  }
}
