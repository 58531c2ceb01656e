/// The subscribers of one hot signal, ordered by number, which is the order of arrival.
///
/// Touched only by the thread that has the turn of a mailbox, so no subscriber joins or leaves
/// during a delivery.
///
/// - Complexity: O(log *n*) amortised to join in order, or to leave.
@usableFromInline
@frozen
package struct SubscriberList<Value: Sendable>: ~Copyable {
  /// The only member, which needs no memory of its own; vacant if the members are in `several`.
  ///
  /// (An optional would look up its generic metadata at each release.)
  @usableFromInline var single = SubscriberSlot<Value>()

  /// All members, since there were several, until there are none.
  @usableFromInline package var several: SubscriberSlots<Value>?

  /// The same object, for use without a retain.
  @usableFromInline var link: Unmanaged<SubscriberSlots<Value>>?

  @inlinable
  package init() {}

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
    if several == nil {
      if single.isVacant { return single = SubscriberSlot(member) }
      let new = SubscriberSlots(exchange(&single, with: SubscriberSlot()))
      (several, link) = (new, .passUnretained(new))
    }
    several?.add(SubscriberSlot(member))
  }

  /// Removes a member whose lifetime has ended, if it is present.
  ///
  /// - Returns: The member, for the caller to release: no object of a user is released here. Its
  ///   lifetime may be a run, which has a value.
  @inlinable
  package mutating func remove(_ number: Int) -> ListedSubscriber<Value>? {
    guard let link else {
      return single.member.number == number
        ? exchange(&single, with: SubscriberSlot()).member : nil
    }
    defer { if several?.isEmpty == true { (several, self.link) = (nil, nil) } }
    return link._withUnsafeGuaranteedRef { $0.remove(number) }
  }
}

/// The members of a list that has several, ordered by number.
///
/// A place that is left stays vacant until as many places are vacant as are not, so that no
/// departure moves all the others.
///
/// Bare memory, so that a delivery retains neither it nor a member; an object, because a struct
/// that frees its memory would look up its generic metadata at each release of an empty list.
@usableFromInline
@_fixed_layout
package final class SubscriberSlots<Value: Sendable> {
  @exclusivity(unchecked) @usableFromInline var slots: UnsafeMutablePointer<SubscriberSlot<Value>>
  @exclusivity(unchecked) @usableFromInline package var capacity = 4

  /// The number of places, vacant ones among them.
  @exclusivity(unchecked) @usableFromInline var count = 1
  @exclusivity(unchecked) @usableFromInline var vacancies = 0

  @inlinable
  init(_ first: consuming SubscriberSlot<Value>) {
    slots = .allocate(capacity: capacity)
    slots.initialize(to: first)
  }

  @inlinable
  deinit {
    slots.deinitialize(count: count)
    slots.deallocate()
  }

  @inlinable var isEmpty: Bool { vacancies == count }

  @inlinable
  func next(_ value: Value) {
    for index in 0..<count { slots[index].next(value) }
  }

  @inlinable
  func other(_ event: Event<Never>) {
    for index in 0..<count { slots[index].other(event) }
  }

  @inlinable
  func add(_ slot: consuming SubscriberSlot<Value>) {
    if count == capacity { moveToNewMemory() }
    let place = place(of: slot.member.number)
    (slots + place + 1).moveInitialize(from: slots + place, count: count - place)
    (slots + place).initialize(to: slot)
    count += 1
  }

  @inlinable
  func remove(_ number: Int) -> ListedSubscriber<Value>? {
    let place = place(of: number)
    guard place < count, slots[place].member.number == number, !slots[place].isVacant else {
      return nil
    }
    let left = exchange(&slots[place], with: SubscriberSlot(vacantAt: number)).member
    vacancies += 1
    if vacancies * 2 > count, capacity > 4 { moveToNewMemory() }
    return left
  }

  /// Moves the members to memory with room for as many again; the vacant places stay behind.
  @inlinable
  func moveToNewMemory() {
    let present = count - vacancies
    capacity = max(4, present * 2)
    let new = UnsafeMutablePointer<SubscriberSlot<Value>>.allocate(capacity: capacity)
    var next = new
    for index in 0..<count {
      if slots[index].isVacant {
        (slots + index).deinitialize(count: 1)
      } else {
        next.moveInitialize(from: slots + index, count: 1)
        next += 1
      }
    }
    slots.deallocate()
    (slots, count, vacancies) = (new, present, 0)
  }

  /// Returns the first place whose number is not lower.
  @inlinable
  func place(of number: Int) -> Int {
    if slots[count - 1].member.number < number { return count }
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

/// The slot of a member.
///
/// It cannot be copied, so that a call does not retain its observer.
@usableFromInline
@frozen
struct SubscriberSlot<Value: Sendable>: ~Copyable {
  @usableFromInline var member: ListedSubscriber<Value>

  /// Creates a vacant slot.
  ///
  /// - Parameter number: The number of the member that has left it.
  @inlinable
  init(vacantAt number: Int = -1) {
    member = ListedSubscriber(number, Observer(next: { _ in }, other: { _ in }), nil)
  }

  @inlinable
  init(_ member: consuming ListedSubscriber<Value>) {
    self.member = member
  }

  @inlinable var isVacant: Bool { member.lifetime == nil }

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
@frozen
package struct ListedSubscriber<Value: Sendable>: Sendable {
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
