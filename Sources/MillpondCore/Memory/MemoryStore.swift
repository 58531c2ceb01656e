/// The entries of a memory cache in the order of their use: a dictionary over a slab of linked
/// slots.
///
/// Pure; its owner locks, and releases what is dropped after the unlock.
@usableFromInline
struct MemoryStore<Key: Hashable & Sendable, Value: Sendable>: FlightRoom {
  @usableFromInline let countLimit: Int
  @usableFromInline let costLimit: Int
  @usableFromInline var index: [Key: Int] = [:]
  @usableFromInline var slots: ContiguousArray<MemorySlot<Key, Value>> = []
  @usableFromInline var freeSlot = -1
  @usableFromInline var newest = -1
  @usableFromInline var oldest = -1
  @usableFromInline var told = ToldKeys()

  /// The gets that will bring what is not here yet, see ``Replayed``.
  @usableFromInline var flights = FlightTable<Key, Value>()
  @usableFromInline var totalCost = 0
  @usableFromInline var count = 0

  @inlinable
  init(countLimit: Int, costLimit: Int) {
    self.countLimit = max(0, countLimit)
    self.costLimit = max(0, costLimit)
  }

  /// The value, which becomes the newest.
  @inlinable
  @discardableResult
  mutating func hit(_ key: Key) -> Value? {
    guard let slot = index[key] else { return nil }
    if slot != newest { makeNewest(slot) }
    return slots[slot].entry?.value
  }

  /// The value, if it is young enough, which becomes the newest.
  @inlinable
  mutating func hit(_ key: Key, _ freshness: Freshness, _ now: Duration) -> Stamped<Value>? {
    guard let entry = entry(key) else { return nil }
    let age = now - entry.bornAt
    guard freshness.admits(age: age) else { return nil }
    hit(key)
    return Stamped(entry.value, age: age, validator: entry.validator)
  }

  /// The entry, which is not used thereby.
  @inlinable
  func entry(_ key: Key) -> MemoryEntry<Value>? {
    index[key].flatMap { slots[$0].entry }
  }

  /// The last telling that could concern the key.
  @inlinable
  func lastTold(_ key: Key) -> Revision {
    told.mark(key.hashValue)
  }

  /// Keeps a value that was told, unless something later has been told.
  @inlinable
  mutating func set(_ key: Key, _ entry: MemoryEntry<Value>) -> DroppedEntries<Key, Value> {
    let hash = key.hashValue
    told.outdateFills(hash, entry.revision)
    let present = index[key].flatMap { slots[$0].entry?.revision } ?? .none
    if told.outdates(hash, entry.revision) || present > entry.revision { return DroppedEntries() }
    return store(key, entry)
  }

  /// Keeps a value of a lower layer, unless something has been told since the mark was read.
  @inlinable
  mutating func fill(
    _ key: Key, _ entry: MemoryEntry<Value>, _ mark: Mark
  ) -> DroppedEntries<Key, Value> {
    guard mark.admits(lastTold(key)) else { return DroppedEntries() }
    if mark.isReload { told.outdateFills(key.hashValue, .next()) }
    return store(key, entry)
  }

  /// Drops what was told before.
  @inlinable
  mutating func remove(_ key: Key, _ revision: Revision) -> DroppedEntries<Key, Value> {
    var dropped = DroppedEntries<Key, Value>()
    told.outdateFills(key.hashValue, revision)
    told.remember(key.hashValue, revision)
    if let slot = index[key], let entry = slots[slot].entry, entry.revision <= revision {
      drop(slot, into: &dropped)
    }
    return dropped
  }

  /// Drops everything that was told before `revision`.
  @inlinable
  mutating func removeAll(_ revision: Revision) -> DroppedEntries<Key, Value> {
    var dropped = DroppedEntries<Key, Value>()
    guard told.tellAll(revision) else { return dropped }
    var slot = oldest
    while slot >= 0 {
      let next = slots[slot].newer
      if let entry = slots[slot].entry, entry.revision <= revision { drop(slot, into: &dropped) }
      slot = next
    }
    return dropped
  }

  @inlinable
  mutating func store(
    _ key: Key, _ entry: MemoryEntry<Value>
  ) -> DroppedEntries<Key, Value> {
    var dropped = DroppedEntries<Key, Value>()
    if let slot = index[key] { drop(slot, into: &dropped) }
    // A key that does not equal itself, a NaN, would never be found again.
    guard entry.cost <= costLimit, countLimit > 0, key == key else {
      told.remember(key.hashValue, entry.revision)
      return dropped
    }
    while oldest >= 0, count >= countLimit || totalCost > costLimit - entry.cost {
      drop(oldest, into: &dropped)
    }
    let slot = takeFreeSlot()
    slots[slot].key = key
    slots[slot].entry = entry
    index[key] = slot
    totalCost += entry.cost
    count += 1
    linkAsNewest(slot)
    return dropped
  }

  @inlinable
  mutating func drop(_ slot: Int, into dropped: inout DroppedEntries<Key, Value>) {
    unlink(slot)
    guard let key = slots[slot].key, let entry = slots[slot].entry else { return }
    slots[slot].key = nil
    slots[slot].entry = nil
    index[key] = nil
    totalCost -= entry.cost
    count -= 1
    slots[slot].newer = freeSlot
    freeSlot = slot
    dropped.append((key, entry))
  }

  @inlinable
  mutating func takeFreeSlot() -> Int {
    guard freeSlot >= 0 else {
      slots.append(MemorySlot())
      return slots.count - 1
    }
    defer { freeSlot = slots[freeSlot].newer }
    return freeSlot
  }

  @inlinable
  mutating func makeNewest(_ slot: Int) {
    unlink(slot)
    linkAsNewest(slot)
  }

  @inlinable
  mutating func unlink(_ slot: Int) {
    slots.withUnsafeMutableBufferPointer { slots in
      let (older, newer) = (slots[slot].older, slots[slot].newer)
      if older >= 0 { slots[older].newer = newer } else { oldest = newer }
      if newer >= 0 { slots[newer].older = older } else { newest = older }
    }
  }

  @inlinable
  mutating func linkAsNewest(_ slot: Int) {
    slots.withUnsafeMutableBufferPointer { slots in
      slots[slot].older = newest
      slots[slot].newer = -1
      if newest >= 0 { slots[newest].newer = slot } else { oldest = slot }
      newest = slot
    }
  }
}

/// A place in the slab; -1 is no neighbour.
///
/// A free one is linked to the next free one by `newer`.
@usableFromInline
struct MemorySlot<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline var key: Key?
  @usableFromInline var entry: MemoryEntry<Value>?
  @usableFromInline var older = -1
  @usableFromInline var newer = -1

  @inlinable
  init() {}
}

/// What was dropped under the lock, to be released after it: mostly one entry, or none.
@usableFromInline
struct DroppedEntries<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline var first: (key: Key, entry: MemoryEntry<Value>)?
  @usableFromInline var others: [(key: Key, entry: MemoryEntry<Value>)] = []

  @inlinable
  init() {}

  @inlinable
  mutating func append(_ content: (key: Key, entry: MemoryEntry<Value>)) {
    if first == nil { first = content } else { others.append(content) }
  }
}
