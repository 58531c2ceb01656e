/// A filtered and sorted list of entities, kept up to date by the edits of commits.
///
/// Of two entities of equal rank, the one that arrived first comes first, so each has one place,
/// which a binary search finds. An inconsistent order costs time, and gives some order.
@usableFromInline
struct EntityList<E: Entity>: Sendable {
  @usableFromInline let isIncluded: @Sendable (E) -> Bool
  @usableFromInline let precedes: (@Sendable (E, E) -> Bool)?

  @usableFromInline var values: [E] = []

  /// The arrival numbers of the values, in the same order.
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

  /// Applies the edits of a commit, and returns the steps that change the list accordingly.
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

  /// Fills an empty list, with one sort for all values.
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

  /// Returns the present place of a member.
  @inlinable
  func place(of member: Member) -> Int {
    let place = place(for: member)
    if place < arrivals.count, arrivals[place] == member.arrival { return place }
    return arrivals.firstIndex(of: member.arrival) ?? place
  }

  /// Returns the place behind all values that precede the member.
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

/// A step from one list to the next; the steps of one commit build on one another, in order.
public enum EntityListChange<E: Entity>: Sendable, Equatable {
  /// An entity was inserted; entities from that place on move back by one.
  case insert(E, at: Int)

  /// An entity was removed; entities behind it move forward by one.
  case remove(at: Int)

  /// An entity has changed and moved; `to` is its place in the list without it.
  case move(E, from: Int, to: Int)

  /// An entity has changed in its place.
  case update(E, at: Int)
}
