/// The subscribers of one hot signal, ordered by number, which is the order of arrival.
///
/// Touched only by the thread that has the turn of a mailbox, so no subscriber joins or leaves
/// during a delivery. Several members are kept in blocks of a limited size, so that no turn moves
/// more than one of them.
///
/// - Complexity: O(log *n*) to join or to leave.
@usableFromInline
package struct SubscriberList<Value: Sendable>: ~Copyable {
  /// The only member, which needs no memory of its own; vacant if all members are in blocks.
  ///
  /// (An optional would look up its generic metadata at each release.)
  @usableFromInline var single: SubscriberSlot<Value>

  /// All members, since there were several, until there are none.
  @usableFromInline package var blocks: UnsafeMutablePointer<SubscriberBlock<Value>>?
  @usableFromInline package var blockCount = 0
  @usableFromInline var capacity = 0

  @inlinable
  package init() {
    single = SubscriberSlot()
  }

  @inlinable
  deinit {
    blocks?.deinitialize(count: blockCount)
    blocks?.deallocate()
  }

  @inlinable
  package borrowing func next(_ value: Value) {
    guard blockCount > 0, let blocks else { return single.next(value) }
    for index in 0..<blockCount { blocks[index].next(value) }
  }

  @inlinable
  borrowing func other(_ event: Event<Never>) {
    if blockCount == 0 { single.other(event) } else { otherInBlocks(event) }
  }

  /// Not a part of the other function, since the ends of nested replays would take more stack.
  @inlinable
  borrowing func otherInBlocks(_ event: Event<Never>) {
    guard let blocks else { return }
    for index in 0..<blockCount { blocks[index].other(event) }
  }

  /// Adds a member at the place of its number, since members may arrive out of order.
  @inlinable
  package mutating func add(_ member: consuming ListedSubscriber<Value>) {
    if blockCount == 0 {
      let first = exchange(&single, with: SubscriberSlot())
      if first.isVacant { return single = SubscriberSlot(member) }
      insert(SubscriberBlock(first), at: 0)
    }
    guard let blocks else { return }
    let index = block(of: member.number)
    if let rest = blocks[index].add(SubscriberSlot(member)) { insert(rest, at: index + 1) }
  }

  /// Removes a member whose lifetime has ended, if it is present.
  ///
  /// - Returns: The member, for the caller to release: no object of a user is released here. Its
  ///   lifetime may be a run, which has a value.
  @inlinable
  package mutating func remove(_ number: Int) -> ListedSubscriber<Value>? {
    if single.member.number == number {
      return exchange(&single, with: SubscriberSlot()).member
    }
    guard blockCount > 0, let blocks else { return nil }
    let index = block(of: number)
    let left = blocks[index].remove(number)
    if blocks[index].count == 0 { removeBlock(at: index) }
    return left
  }

  /// Returns the last block that begins at or before the number, or else the first.
  @inlinable
  borrowing func block(of number: Int) -> Int {
    guard let blocks, blocks[blockCount - 1].first > number else { return blockCount - 1 }
    var (low, high) = (0, blockCount - 1)
    while low < high {
      let middle = (low + high + 1) / 2
      if blocks[middle].first <= number { low = middle } else { high = middle - 1 }
    }
    return low
  }

  @inlinable
  mutating func insert(_ block: consuming SubscriberBlock<Value>, at index: Int) {
    let blocks = makeRoom(in: &blocks, &capacity, at: index, of: blockCount)
    (blocks + index).initialize(to: block)
    blockCount += 1
  }

  @inlinable
  mutating func removeBlock(at index: Int) {
    guard let blocks else { return }
    (blocks + index).deinitialize(count: 1)
    blockCount -= 1
    (blocks + index).moveInitialize(from: blocks + index + 1, count: blockCount - index)
  }
}

/// Up to 64 subscribers with neighbouring numbers, ordered by number.
///
/// Bare memory, so that a delivery need not retain it; it would retain an array, and each of its
/// elements.
@usableFromInline
package struct SubscriberBlock<Value: Sendable>: ~Copyable {
  @usableFromInline var slots: UnsafeMutablePointer<SubscriberSlot<Value>>?
  @usableFromInline package var count = 0
  @usableFromInline package var capacity = 0

  /// Few enough that closing a gap takes no longer than the rest of a departure.
  @inlinable package static var limit: Int { 64 }

  @inlinable
  init(_ slot: consuming SubscriberSlot<Value>) {
    insert(slot, at: 0)
  }

  @inlinable
  deinit {
    slots?.deinitialize(count: count)
    slots?.deallocate()
  }

  /// The lowest number.
  @inlinable var first: Int { slots?[0].member.number ?? 0 }

  @inlinable
  borrowing func next(_ value: Value) {
    guard let slots else { return }
    for index in 0..<count { slots[index].next(value) }
  }

  @inlinable
  borrowing func other(_ event: Event<Never>) {
    guard let slots else { return }
    for index in 0..<count { slots[index].other(event) }
  }

  /// Adds a slot; if the block is full, returns a new one with this slot and those after it.
  ///
  /// A number that is lower than all of a full block is admitted beyond the limit.
  @inlinable
  mutating func add(_ slot: consuming SubscriberSlot<Value>) -> SubscriberBlock? {
    let place = place(of: slot.member.number)
    guard count >= Self.limit, place > 0, let slots else {
      insert(slot, at: place)
      return nil
    }
    var rest = SubscriberBlock(slot)
    for index in place..<count { rest.insert((slots + index).move(), at: rest.count) }
    count = place
    return rest
  }

  @inlinable
  mutating func insert(_ slot: consuming SubscriberSlot<Value>, at place: Int) {
    let slots = makeRoom(in: &slots, &capacity, at: place, of: count)
    (slots + place).initialize(to: slot)
    count += 1
  }

  /// Removes a member, and returns it.
  @inlinable
  mutating func remove(_ number: Int) -> ListedSubscriber<Value>? {
    let place = place(of: number)
    guard let slots, place < count, slots[place].member.number == number else { return nil }
    let left = (slots + place).move().member
    count -= 1
    (slots + place).moveInitialize(from: slots + place + 1, count: count - place)
    if capacity > 4, count <= capacity / 4 { rehouse(&self.slots, &capacity, count * 2, count) }
    return left
  }

  /// Returns the first place whose number is not lower.
  @inlinable
  borrowing func place(of number: Int) -> Int {
    guard let slots, count > 0, slots[count - 1].member.number >= number else { return count }
    var (low, high) = (0, count - 1)
    while low < high {
      let middle = (low + high) / 2
      if slots[middle].member.number < number { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// Moves the elements from `index` on by one place, in more memory if there is none left.
@inlinable
func makeRoom<Element: ~Copyable>(
  in elements: inout UnsafeMutablePointer<Element>?, _ capacity: inout Int, at index: Int,
  of count: Int
) -> UnsafeMutablePointer<Element> {
  let room = count < capacity ? elements : nil
  let elements = room ?? rehouse(&elements, &capacity, max(1, count * 2), count)
  (elements + index + 1).moveInitialize(from: elements + index, count: count - index)
  return elements
}

/// Moves the elements to other memory.
@inlinable
@discardableResult
func rehouse<Element: ~Copyable>(
  _ elements: inout UnsafeMutablePointer<Element>?, _ capacity: inout Int, _ newCapacity: Int,
  _ count: Int
) -> UnsafeMutablePointer<Element> {
  let new = UnsafeMutablePointer<Element>.allocate(capacity: newCapacity)
  if let old = elements {
    new.moveInitialize(from: old, count: count)
    old.deallocate()
  }
  (elements, capacity) = (new, newCapacity)
  return new
}

/// The slot of a member.
///
/// It cannot be copied, so that a call does not retain its observer.
@usableFromInline
struct SubscriberSlot<Value: Sendable>: ~Copyable {
  @usableFromInline var member: ListedSubscriber<Value>

  /// Creates a vacant slot.
  @inlinable
  init() {
    member = ListedSubscriber(-1, Observer(next: { _ in }, other: { _ in }), nil)
  }

  @inlinable
  init(_ member: consuming ListedSubscriber<Value>) {
    self.member = member
  }

  @inlinable
  borrowing func next(_ value: Value) {
    if member.isListening { member.observer.next(value) }
  }

  @inlinable
  borrowing func other(_ event: Event<Never>) {
    if member.isListening { member.observer.other(event) }
  }

  @inlinable
  var isVacant: Bool {
    member.number < 0
  }
}

@usableFromInline
package struct ListedSubscriber<Value: Sendable>: Sendable {
  /// At least zero; below it in a vacant slot.
  @usableFromInline var number: Int
  @usableFromInline var observer: Observer<Value>

  /// Nil in a vacant slot.
  @usableFromInline let lifetime: Lifetime?

  @inlinable
  package init(_ number: Int, _ observer: Observer<Value>, _ lifetime: Lifetime?) {
    self.number = number
    self.observer = observer
    self.lifetime = lifetime
  }

  /// Whether the member is there, and its lifetime has not ended.
  @inlinable
  var isListening: Bool {
    if let lifetime { !lifetime.isEnded } else { false }
  }
}
