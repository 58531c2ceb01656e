public import MillpondSignals

/// A filtered and sorted list of entities, kept up to date by the edits of commits.
///
/// Of two entities of equal rank, the one that arrived first comes first, so each has one place,
/// which a binary search finds. An inconsistent order costs time, and gives some order.
@usableFromInline
@frozen
struct EntityList<E: Entity>: Sendable {
  @usableFromInline let isIncluded: @Sendable (E) -> Bool
  @usableFromInline let precedes: (@Sendable (E, E) -> Bool)?

  /// The members in order, and by identity.
  @usableFromInline var list: [Member] = []
  @usableFromInline var members: [E.ID: Member] = [:]
  @usableFromInline var lastArrival = 0

  @usableFromInline
  @frozen
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

  @inlinable
  var values: [E] {
    list.map(\.value)
  }

  /// Applies the edits of a commit, and returns the changes that lead to the new list: one for each
  /// few edits, or a reset for many.
  ///
  /// - Complexity: O(*m* log *n*) for few edits, plus moving the elements behind them in memory;
  ///   O((*m* + *n*) log (*m* + *n*)) for many.
  @inlinable
  mutating func apply(_ edits: [TableEdit<E>]) -> [EntityListChange<E>] {
    if edits.count > Self.fewEdits { return reset(edits) }
    return edits.compactMap { edit in
      switch (members[edit.id], included(edit.value)) {
      case (nil, nil): nil
      case (nil, let value?): insert(value, edit.id)
      case (let member?, nil): remove(member, edit.id)
      case (let member?, let value?): change(member, to: value, edit.id)
      }
    }
  }

  /// The greatest number of edits that are applied one by one.
  @usableFromInline static var fewEdits: Int { 128 }

  @inlinable
  func included(_ value: E?) -> E? {
    value.flatMap { isIncluded($0) ? $0 : nil }
  }

  /// Applies many edits, each of another entity, with one sort for all.
  @inlinable
  mutating func reset(_ edits: [TableEdit<E>]) -> [EntityListChange<E>] {
    var (former, new): (Set<Int>, [Member]) = ([], [])
    for edit in edits {
      let old = members.removeValue(forKey: edit.id)
      if let old { former.insert(old.arrival) }
      guard let value = included(edit.value) else { continue }
      new.append(Member(value: value, arrival: old?.arrival ?? nextArrival()))
      members[edit.id] = new.last
    }
    if former.isEmpty, new.isEmpty { return [] }
    list.removeAll { former.contains($0.arrival) }
    list = (list + new).sorted { isBefore($0, $1) }
    return [.reset(values)]
  }

  @inlinable
  mutating func nextArrival() -> Int {
    lastArrival += 1
    return lastArrival
  }

  @inlinable
  mutating func insert(_ value: E, _ id: E.ID) -> EntityListChange<E> {
    let member = Member(value: value, arrival: nextArrival())
    members[id] = member
    let place = place(for: member)
    list.insert(member, at: place)
    return .insert(value, at: place)
  }

  @inlinable
  mutating func remove(_ member: Member, _ id: E.ID) -> EntityListChange<E> {
    members[id] = nil
    let place = place(of: member)
    list.remove(at: place)
    return .remove(at: place)
  }

  @inlinable
  mutating func change(
    _ old: Member, to value: E, _ id: E.ID
  ) -> EntityListChange<E> {
    let new = Member(value: value, arrival: old.arrival)
    members[id] = new
    let from = place(of: old)
    if stays(new, at: from) {
      list[from] = new
      return .update(value, at: from)
    }
    list.remove(at: from)
    let to = place(for: new)
    list.insert(new, at: to)
    return from == to ? .update(value, at: to) : .move(value, from: from, to: to)
  }

  /// Whether a new version of the member at `place` keeps its index.
  @inlinable
  func stays(_ new: Member, at place: Int) -> Bool {
    if place > 0, !isBefore(list[place - 1], new) { return false }
    return place + 1 >= list.count || isBefore(new, list[place + 1])
  }

  /// Returns the present place of a member.
  @inlinable
  func place(of member: Member) -> Int {
    let place = place(for: member)
    if place < list.count, list[place].arrival == member.arrival { return place }
    return list.firstIndex { $0.arrival == member.arrival } ?? place
  }

  /// Returns the place behind all values that precede the member.
  @inlinable
  func place(for member: Member) -> Int {
    partitionPoint(list.count) { isBefore(list[$0], member) }
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
///
/// A commit that changes more than 128 entities sends a single ``reset(_:)``, and so does the
/// beginning of a longer list.
public enum EntityListChange<E: Entity>: Sendable, Equatable {
  /// An entity was inserted; entities from that place on move back by one.
  case insert(E, at: Int)

  /// An entity was removed; entities behind it move forward by one.
  case remove(at: Int)

  /// An entity has changed and moved; `to` is its place in the list without it.
  case move(E, from: Int, to: Int)

  /// An entity has changed in its place.
  case update(E, at: Int)

  /// The list was replaced by these entities, in order.
  case reset([E])
}
