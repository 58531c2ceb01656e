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
  @usableFromInline package var blocks: SubscriberBlocks<Value>?

  /// The same object, for use without a retain.
  @usableFromInline var link: Unmanaged<SubscriberBlocks<Value>>?

  @inlinable
  package init() {
    single = SubscriberSlot()
    (blocks, link) = (nil, nil)
  }

  @inlinable
  package borrowing func next(_ value: Value) {
    guard let link else { return single.next(value) }
    link._withUnsafeGuaranteedRef { $0.next(value) }
  }

  @inlinable
  borrowing func other(_ event: Event<Never>) {
    guard let link else { return single.other(event) }
    link._withUnsafeGuaranteedRef { $0.other(event) }
  }

  /// Adds a member at the place of its number, since members may arrive out of order.
  @inlinable
  package mutating func add(_ member: consuming ListedSubscriber<Value>) {
    if blocks == nil {
      let first = exchange(&single, with: SubscriberSlot())
      if first.member.number < 0 { return single = SubscriberSlot(member) }
      let new = SubscriberBlocks(first)
      (blocks, link) = (new, .passUnretained(new))
    }
    blocks?.add(member)
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
    guard let link else { return nil }
    defer { if blocks?.count == 0 { (blocks, self.link) = (nil, nil) } }
    return link._withUnsafeGuaranteedRef { $0.remove(number) }
  }
}

/// The members of a list that has several, in blocks.
///
/// An object, because a struct that frees its memory would look up its generic metadata at each
/// release of a list, even of an empty one.
@usableFromInline
package final class SubscriberBlocks<Value: Sendable> {
  @exclusivity(unchecked) @usableFromInline
  package var blocks: UnsafeMutablePointer<SubscriberBlock<Value>>?

  @exclusivity(unchecked) @usableFromInline package var count: Int
  @exclusivity(unchecked) @usableFromInline var capacity: Int

  @inlinable
  init(_ first: consuming SubscriberSlot<Value>) {
    blocks = nil
    (count, capacity) = (0, 0)
    insert(SubscriberBlock(first), at: 0)
  }

  @inlinable
  deinit {
    blocks?.deinitialize(count: count)
    blocks?.deallocate()
  }

  @inlinable
  func next(_ value: Value) {
    guard let blocks else { return }
    for index in 0..<count { blocks[index].next(value) }
  }

  /// Not a part of its caller, since the ends of nested replays would take more stack.
  @inlinable
  @inline(never)
  func other(_ event: Event<Never>) {
    guard let blocks else { return }
    for index in 0..<count { blocks[index].other(event) }
  }

  @inlinable
  func add(_ member: consuming ListedSubscriber<Value>) {
    guard let blocks else { return }
    let index = block(of: member.number)
    if let rest = blocks[index].add(SubscriberSlot(member)) { insert(rest, at: index + 1) }
  }

  @inlinable
  func remove(_ number: Int) -> ListedSubscriber<Value>? {
    guard let blocks else { return nil }
    let index = block(of: number)
    let left = blocks[index].remove(number)
    if blocks[index].count > 0 { return left }
    (blocks + index).deinitialize(count: 1)
    count -= 1
    (blocks + index).moveInitialize(from: blocks + index + 1, count: count - index)
    return left
  }

  /// Returns the last block that begins at or before the number, or else the first.
  @inlinable
  func block(of number: Int) -> Int {
    guard let blocks, blocks[count - 1].first > number else { return count - 1 }
    return max(0, partitionPoint(count) { blocks[$0].first <= number } - 1)
  }

  @inlinable
  func insert(_ block: consuming SubscriberBlock<Value>, at index: Int) {
    let blocks = makeRoom(in: &blocks, &capacity, at: index, of: count)
    (blocks + index).initialize(to: block)
    count += 1
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
  @inlinable static var limit: Int { 64 }

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
    return partitionPoint(count) { slots[$0].member.number < number }
  }
}

/// Returns the first of `count` places that is not `isBefore`, by halving.
@inlinable
package func partitionPoint(_ count: Int, _ isBefore: (Int) -> Bool) -> Int {
  var (low, high) = (0, count)
  while low < high {
    let middle = (low + high) / 2
    if isBefore(middle) { low = middle + 1 } else { high = middle }
  }
  return low
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

/// An event for the subscribers of a hot signal, or an arrival or a departure among them.
@usableFromInline
enum SubscriberMessage<Value: Sendable>: Sendable {
  case arrival(ListedSubscriber<Value>)
  case departure(Int)
  case next(Value)
  case other(Event<Never>)

  /// Whether the second message makes the first superfluous: of two progress events in a row, the
  /// newer one counts.
  @inlinable
  static func replaces(_ last: Self, _ new: Self) -> Bool {
    if case .other(.progress) = last, case .other(.progress) = new { true } else { false }
  }
}
