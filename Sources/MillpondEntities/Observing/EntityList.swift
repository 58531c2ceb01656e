/// Entities, filtered and sorted, that are kept so by what changes.
///
/// Of two that are of equal rank, the one that came first stays first; so each has one place, which is
/// found by halving. An order that contradicts itself costs time, and gives some order.
@usableFromInline
struct EntityList<E: Entity>: Sendable {
  @usableFromInline let isIncluded: @Sendable (E) -> Bool
  @usableFromInline let precedes: (@Sendable (E, E) -> Bool)?

  @usableFromInline var values: [E] = []

  /// When each of them came, side by side with them.
  @usableFromInline var arrivals: [Int] = []
  @usableFromInline var members: [E.ID: Member] = [:]
  @usableFromInline var lastArrival = 0

  @usableFromInline
  struct Member: Sendable {
    @usableFromInline let value: E
    @usableFromInline let arrival: Int

    @inlinable
    init(value: E, arrival: Int) {
      self.value = value
      self.arrival = arrival
    }
  }

  @inlinable
  init(
    isIncluded: @escaping @Sendable (E) -> Bool, precedes: (@Sendable (E, E) -> Bool)?
  ) {
    self.isIncluded = isIncluded
    self.precedes = precedes
  }

  /// Takes a commit in, and gives the steps by which the list gets there.
  @inlinable
  mutating func apply(_ edits: [TableEdit<E>]) -> [EntityListChange<E>] {
    if members.isEmpty { return fill(edits) }
    return edits.compactMap { edit in
      let value = edit.value.flatMap { isIncluded($0) ? $0 : nil }
      return switch (members[edit.id], value) {
      case (nil, nil): nil
      case (nil, let value?): insert(value, edit.id)
      case (let member?, nil): remove(member, edit.id)
      case (let member?, let value?): change(member, to: value, edit.id)
      }
    }
  }

  /// Many at once are sorted at once.
  @inlinable
  mutating func fill(_ edits: [TableEdit<E>]) -> [EntityListChange<E>] {
    var arrived: [(id: E.ID, member: Member)] = []
    for edit in edits {
      guard let value = edit.value, isIncluded(value) else { continue }
      lastArrival += 1
      arrived.append((edit.id, Member(value: value, arrival: lastArrival)))
    }
    arrived.sort { isBefore($0.member, $1.member) }
    for (id, member) in arrived { members[id] = member }
    values = arrived.map(\.member.value)
    arrivals = arrived.map(\.member.arrival)
    return values.enumerated().map { .insert($0.element, at: $0.offset) }
  }

  @inlinable
  mutating func insert(_ value: E, _ id: E.ID) -> EntityListChange<E> {
    lastArrival += 1
    let member = Member(value: value, arrival: lastArrival)
    members[id] = member
    let place = place(for: member)
    put(member, at: place)
    return .insert(value, at: place)
  }

  @inlinable
  mutating func remove(_ member: Member, _ id: E.ID) -> EntityListChange<E> {
    members[id] = nil
    let place = place(of: member)
    take(at: place)
    return .remove(at: place)
  }

  @inlinable
  mutating func change(
    _ old: Member, to value: E, _ id: E.ID
  ) -> EntityListChange<E> {
    let new = Member(value: value, arrival: old.arrival)
    members[id] = new
    let from = place(of: old)
    take(at: from)
    let to = place(for: new)
    put(new, at: to)
    return from == to ? .update(value, at: to) : .move(value, from: from, to: to)
  }

  @inlinable
  mutating func put(_ member: Member, at place: Int) {
    values.insert(member.value, at: place)
    arrivals.insert(member.arrival, at: place)
  }

  @inlinable
  mutating func take(at place: Int) {
    values.remove(at: place)
    arrivals.remove(at: place)
  }

  /// Where a member is.
  @inlinable
  func place(of member: Member) -> Int {
    let place = place(for: member)
    if place < arrivals.count, arrivals[place] == member.arrival { return place }
    return arrivals.firstIndex(of: member.arrival) ?? place
  }

  /// Behind all that come before it.
  @inlinable
  func place(for member: Member) -> Int {
    var (low, high) = (0, values.count)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(Member(value: values[middle], arrival: arrivals[middle]), member) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low
  }

  @inlinable
  func isBefore(_ left: Member, _ right: Member) -> Bool {
    if let precedes {
      if precedes(left.value, right.value) { return true }
      if precedes(right.value, left.value) { return false }
    }
    return left.arrival < right.arrival
  }
}

/// A step from one list to the next; those of one commit build upon one another, in order.
public enum EntityListChange<E: Entity>: Sendable, Equatable {
  /// An entity came in; what was there and behind moves on by one.
  case insert(E, at: Int)

  /// An entity has left; what was behind moves up by one.
  case remove(at: Int)

  /// An entity has changed, and goes from one place to another, counted without itself.
  case move(E, from: Int, to: Int)

  /// An entity has changed, and stays in its place.
  case update(E, at: Int)
}
