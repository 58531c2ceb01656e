/// Who is subscribed to one hot signal, in order of their numbers, which is that of arrival.
///
/// Touched only by whoever has the turn of a mailbox, so nobody joins or leaves during a sending.
/// That is also why the storage is bare memory: nothing needs to be retained for a sending, as an
/// array would be, and each of its elements.
///
/// - Complexity: O(1) to join, O(log *n*) to leave, both amortised.
@usableFromInline
package struct Members<Value: Sendable>: ~Copyable {
  @usableFromInline var seats: UnsafeMutablePointer<Seat<Value>>?
  @usableFromInline package var count = 0
  @usableFromInline var vacant = 0
  @usableFromInline package var capacity = 0

  @inlinable
  package init() {}

  @inlinable
  deinit {
    seats?.deinitialize(count: count)
    seats?.deallocate()
  }

  @inlinable
  package borrowing func next(_ value: Value) {
    guard let seats else { return }
    for index in 0..<count { seats[index].next(value) }
  }

  @inlinable
  borrowing func other(_ event: Event<Never>) {
    guard let seats else { return }
    for index in 0..<count { seats[index].other(event) }
  }

  /// Takes a member in; the latest number comes last, whoever was overtaken on the way here.
  @inlinable
  package mutating func add(_ member: consuming Member<Value>) {
    let place = place(of: member.number)
    let seats = roomForOneMore()
    (seats + place + 1).moveInitialize(from: seats + place, count: count - place)
    (seats + place).initialize(to: Seat(member))
    count += 1
  }

  /// Removes a member whose lifetime has ended, if it is here; its seat stays until half of them are
  /// vacant.
  ///
  /// - Returns: The member's observer, to be released by the caller: nothing of a user's is released
  ///   here.
  @inlinable
  package mutating func remove(_ number: Int) -> Observer<Value>? {
    let place = place(of: number)
    guard let seats, place < count, seats[place].member.number == number else { return nil }
    let left = seats[place].vacate()
    vacant += 1
    if vacant * 2 > count { closeRanks(seats) }
    return left
  }

  /// The first seat whose number is not lower.
  @inlinable
  borrowing func place(of number: Int) -> Int {
    guard let seats, count > 0, seats[count - 1].number >= number else { return count }
    var (low, high) = (0, count - 1)
    while low < high {
      let middle = (low + high) / 2
      if seats[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low
  }

  @inlinable
  mutating func closeRanks(_ seats: UnsafeMutablePointer<Seat<Value>>) {
    var kept = 0
    for index in 0..<count {
      if seats[index].isVacant {
        (seats + index).deinitialize(count: 1)
      } else {
        (seats + kept).moveInitialize(from: seats + index, count: 1)
        kept += 1
      }
    }
    count = kept
    vacant = 0
    if capacity > 16, kept <= capacity / 4 { rehouse(seats, max(4, kept * 2)) }
  }

  @inlinable
  mutating func roomForOneMore() -> UnsafeMutablePointer<Seat<Value>> {
    if let seats, count < capacity { return seats }
    return rehouse(seats, max(1, count * 2))
  }

  @inlinable
  @discardableResult
  mutating func rehouse(
    _ old: UnsafeMutablePointer<Seat<Value>>?, _ newCapacity: Int
  ) -> UnsafeMutablePointer<Seat<Value>> {
    let new = UnsafeMutablePointer<Seat<Value>>.allocate(capacity: newCapacity)
    if let old {
      new.moveInitialize(from: old, count: count)
      old.deallocate()
    }
    seats = new
    capacity = newCapacity
    return new
  }
}

/// Where a member sits, which can't be copied, so what it calls isn't retained for the call.
@usableFromInline
struct Seat<Value: Sendable>: ~Copyable {
  @usableFromInline var member: Member<Value>
  @inlinable
  init(_ member: consuming Member<Value>) {
    self.member = member
  }

  @inlinable
  borrowing func next(_ value: Value) {
    if !member.lifetime.isEnded { member.observer.next(value) }
  }

  @inlinable
  borrowing func other(_ event: Event<Never>) {
    if !member.lifetime.isEnded { member.observer.other(event) }
  }

  /// Greater from seat to seat, also of those that are vacant.
  @inlinable
  var number: Int {
    isVacant ? ~member.number : member.number
  }

  /// Noted by the sign of the number: a flag of its own would make a thousand seats too long for the
  /// first cache.
  @inlinable
  var isVacant: Bool {
    member.number < 0
  }

  /// Removes the observer.
  @inlinable
  mutating func vacate() -> Observer<Value> {
    member.number = ~number
    return exchange(&member.observer, with: Observer(next: { _ in }, other: { _ in }))
  }
}

@usableFromInline
package struct Member<Value: Sendable>: Sendable {
  /// At least zero.
  @usableFromInline var number: Int
  @usableFromInline var observer: Observer<Value>
  @usableFromInline let lifetime: Lifetime

  @inlinable
  package init(_ number: Int, _ observer: Observer<Value>, _ lifetime: Lifetime) {
    self.number = number
    self.observer = observer
    self.lifetime = lifetime
  }
}
