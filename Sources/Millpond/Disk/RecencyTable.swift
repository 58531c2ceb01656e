/// A dictionary in the order of use, over a slab of linked slots.
struct RecencyTable<Key: Hashable & Sendable, Element: Sendable>: Sendable {
  private var places: [Key: Int] = [:]
  private var slots: ContiguousArray<Slot> = []
  private var freeSlot = -1
  private var newest = -1
  private var oldest = -1

  /// A place in the slab; -1 is no neighbour.
  ///
  /// A free one is linked to the next free one by `newer`.
  private struct Slot: Sendable {
    var content: (key: Key, element: Element)?
    var older = -1
    var newer = -1
  }

  var count: Int {
    places.count
  }

  /// What has not been used for longest.
  var oldestKey: Key? {
    oldest < 0 ? nil : slots[oldest].content?.key
  }

  /// The element, as it is; its place in the order stays.
  subscript(key: Key) -> Element? {
    places[key].flatMap { slots[$0].content?.element }
  }

  /// The element, which becomes the newest.
  mutating func use(_ key: Key) -> Element? {
    guard let slot = places[key] else { return nil }
    if slot != newest {
      unlink(slot)
      linkAsNewest(slot)
    }
    return slots[slot].content?.element
  }

  /// Puts another element in the place of one that is there.
  mutating func replace(_ key: Key, by element: Element) {
    if let slot = places[key] { slots[slot].content?.element = element }
  }

  /// Adds a key that is not there, as the newest.
  mutating func insert(_ key: Key, _ element: Element) {
    let slot = takeFreeSlot()
    slots[slot].content = (key, element)
    places[key] = slot
    linkAsNewest(slot)
  }

  mutating func remove(_ key: Key) -> Element? {
    guard let slot = places.removeValue(forKey: key) else { return nil }
    unlink(slot)
    let element = slots[slot].content?.element
    slots[slot] = Slot(newer: freeSlot)
    freeSlot = slot
    return element
  }

  /// The keys of the elements for which this is so, the oldest first.
  func keys(where isIncluded: (Element) -> Bool) -> [Key] {
    var keys: [Key] = []
    var slot = oldest
    while slot >= 0 {
      if let content = slots[slot].content, isIncluded(content.element) { keys.append(content.key) }
      slot = slots[slot].newer
    }
    return keys
  }

  private mutating func takeFreeSlot() -> Int {
    guard freeSlot >= 0 else {
      slots.append(Slot())
      return slots.count - 1
    }
    defer { freeSlot = slots[freeSlot].newer }
    return freeSlot
  }

  private mutating func unlink(_ slot: Int) {
    let (older, newer) = (slots[slot].older, slots[slot].newer)
    if older >= 0 { slots[older].newer = newer } else { oldest = newer }
    if newer >= 0 { slots[newer].older = older } else { newest = older }
  }

  private mutating func linkAsNewest(_ slot: Int) {
    slots[slot].older = newest
    slots[slot].newer = -1
    if newest >= 0 { slots[newest].newer = slot } else { oldest = slot }
    newest = slot
  }
}
