/// The subscribers of one hot signal, ordered by number, which is the order of arrival.
///
/// Touched only by the thread that has the turn of a mailbox, so no subscriber joins or leaves
/// during a delivery.
///
/// - Complexity: O(1) to join, O(log *n*) to leave, both amortised.
@usableFromInline
package struct SubscriberList<Value: Sendable>: ~Copyable {
  /// The only member, which needs no memory of its own; vacant if all members are in `slots`.
  ///
  /// (An optional would look up its generic metadata at each release.)
  @usableFromInline var single: SubscriberSlot<Value>

  /// All members, since there were several, until there are none.
  @usableFromInline package var slots: SubscriberSlots<Value>

  @inlinable
  package init() {
    single = SubscriberSlot()
    slots = SubscriberSlots()
  }

  @inlinable
  package borrowing func next(_ value: Value) {
    if slots.count > 0 { slots.next(value) } else if !single.isVacant { single.next(value) }
  }

  @inlinable
  borrowing func other(_ event: Event<Never>) {
    if slots.count > 0 { slots.other(event) } else if !single.isVacant { single.other(event) }
  }

  /// Adds a member at the place of its number, since members may arrive out of order.
  @inlinable
  package mutating func add(_ member: consuming ListedSubscriber<Value>) {
    if slots.count == 0 {
      let first = exchange(&single, with: SubscriberSlot())
      if first.isVacant { return single = SubscriberSlot(member) }
      slots.add(first)
    }
    slots.add(SubscriberSlot(member))
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
    return slots.remove(number)
  }
}

/// The slots of several subscribers, ordered by number.
///
/// Bare memory, so that a delivery need not retain it; it would retain an array, and each of its
/// elements.
@usableFromInline
package struct SubscriberSlots<Value: Sendable>: ~Copyable {
  @usableFromInline var slots: UnsafeMutablePointer<SubscriberSlot<Value>>?
  @usableFromInline package var count = 0
  @usableFromInline var vacant = 0
  @usableFromInline package var capacity = 0

  @inlinable
  init() {}

  @inlinable
  deinit {
    slots?.deinitialize(count: count)
    slots?.deallocate()
  }

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

  @inlinable
  mutating func add(_ slot: consuming SubscriberSlot<Value>) {
    let place = place(of: slot.number)
    let slots = (count < capacity ? slots : nil) ?? rehouse(slots, max(1, count * 2))
    (slots + place + 1).moveInitialize(from: slots + place, count: count - place)
    (slots + place).initialize(to: slot)
    count += 1
  }

  /// Removes a member, and returns it; its slot stays until more than half are vacant.
  @inlinable
  mutating func remove(_ number: Int) -> ListedSubscriber<Value>? {
    let place = place(of: number)
    guard let slots, place < count, slots[place].member.number == number else { return nil }
    let left = slots[place].vacate()
    vacant += 1
    if vacant * 2 > count { closeRanks(slots) }
    return left
  }

  /// Returns the first place whose number is not lower.
  @inlinable
  borrowing func place(of number: Int) -> Int {
    guard let slots, count > 0, slots[count - 1].number >= number else { return count }
    var (low, high) = (0, count - 1)
    while low < high {
      let middle = (low + high) / 2
      if slots[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low
  }

  @inlinable
  mutating func closeRanks(_ slots: UnsafeMutablePointer<SubscriberSlot<Value>>) {
    var kept = 0
    for index in 0..<count {
      if slots[index].isVacant {
        (slots + index).deinitialize(count: 1)
      } else {
        (slots + kept).moveInitialize(from: slots + index, count: 1)
        kept += 1
      }
    }
    count = kept
    vacant = 0
    if capacity > 16, kept <= capacity / 4 { rehouse(slots, max(4, kept * 2)) }
  }

  @inlinable
  @discardableResult
  mutating func rehouse(
    _ old: UnsafeMutablePointer<SubscriberSlot<Value>>?, _ newCapacity: Int
  ) -> UnsafeMutablePointer<SubscriberSlot<Value>> {
    let new = UnsafeMutablePointer<SubscriberSlot<Value>>.allocate(capacity: newCapacity)
    if let old {
      new.moveInitialize(from: old, count: count)
      old.deallocate()
    }
    slots = new
    capacity = newCapacity
    return new
  }
}

/// The slot of a member.
///
/// It cannot be copied, so that a call does not retain its observer.
@usableFromInline
struct SubscriberSlot<Value: Sendable>: ~Copyable {
  @usableFromInline var member: ListedSubscriber<Value>

  /// Creates a vacant slot.
  ///
  /// - Parameter number: The complement of the number of the member that has left; below zero.
  @inlinable
  init(vacant number: Int = -1) {
    member = ListedSubscriber(number, Observer(next: { _ in }, other: { _ in }), nil)
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

  /// The number of the member, also of one that has left; it grows from slot to slot.
  @inlinable
  var number: Int {
    isVacant ? ~member.number : member.number
  }

  /// Whether the member has left, encoded as the sign of its number.
  ///
  /// A flag of its own would make a thousand slots too large for the first-level cache.
  @inlinable
  var isVacant: Bool {
    member.number < 0
  }

  /// Removes the member, and returns it.
  @inlinable
  mutating func vacate() -> ListedSubscriber<Value> {
    exchange(&self, with: SubscriberSlot(vacant: ~number)).member
  }
}

@usableFromInline
package struct ListedSubscriber<Value: Sendable>: Sendable {
  /// At least zero; the complement of the number after the member has left.
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
