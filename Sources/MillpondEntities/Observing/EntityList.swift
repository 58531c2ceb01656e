public import MillpondSignals

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
  ///
  /// - Complexity: O(*m* log *n*) for few edits, plus moving the elements behind them in memory;
  ///   O((*m* + *n*) log (*m* + *n*)) for many.
  @inlinable
  mutating func apply(_ edits: [TableEdit<E>]) -> [EntityListChange<E>] {
    if members.isEmpty { return fill(edits) }
    if edits.count > Self.fewEdits { return applyMany(edits) }
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
    if stays(new, at: from) {
      values[from] = value
      return .update(value, at: from)
    }
    take(at: from)
    let to = place(for: new)
    put(new, at: to)
    return from == to ? .update(value, at: to) : .move(value, from: from, to: to)
  }

  /// Whether a new version of the member at `place` keeps its index.
  @inlinable
  func stays(_ new: Member, at place: Int) -> Bool {
    if place > 0, !isBefore(member(at: place - 1), new) { return false }
    return place + 1 >= values.count || isBefore(new, member(at: place + 1))
  }

  @inlinable
  func member(at place: Int) -> Member {
    Member(value: values[place], arrival: arrivals[place])
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
    partitionPoint(values.count) { isBefore(self.member(at: $0), member) }
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

// MARK: - Many edits

extension EntityList {
  /// The greatest number of edits that are applied one by one.
  @usableFromInline static var fewEdits: Int { 128 }

  /// Applies a large commit.
  ///
  /// Every member that is in the list before or after an edit has a fixed place in one order; its
  /// index in the list is the number of present members before that place.
  @inlinable
  mutating func applyMany(_ edits: [TableEdit<E>]) -> [EntityListChange<E>] {
    let versions = takeVersions(of: edits)
    let order = merged(versions)
    var present = PresenceCount(order.map { $0 < values.count })
    var places = [Int](repeating: 0, count: order.count)
    for (place, number) in order.enumerated() { places[number] = place }
    let changes = versions.compactMap { version -> EntityListChange<E>? in
      let from = version.former.map { present.remove(places[$0]) }
      guard let new = version.new else { return from.map { .remove(at: $0) } }
      let to = present.insert(places[version.number])
      guard let from else { return .insert(new.value, at: to) }
      return from == to ? .update(new.value, at: to) : .move(new.value, from: from, to: to)
    }
    let added = versions.compactMap(\.new)
    let kept = order.enumerated().filter { present.contains($0.offset) }.map {
      $0.element < values.count ? member(at: $0.element) : added[$0.element - values.count]
    }
    values = kept.map(\.value)
    arrivals = kept.map(\.arrival)
    return changes
  }

  /// An edit of a large commit: the member that it removes, and the member that it inserts.
  ///
  /// Members of the list are numbered by their index, and inserted ones after them.
  @usableFromInline
  struct Version {
    @usableFromInline let former: Int?
    @usableFromInline let new: Member?
    @usableFromInline let number: Int

    @inlinable
    init(former: Int?, new: Member?, number: Int) {
      self.former = former
      self.new = new
      self.number = number
    }
  }

  /// Returns the members that each edit removes and inserts, and stores the new ones in `members`.
  @inlinable
  mutating func takeVersions(of edits: [TableEdit<E>]) -> [Version] {
    // By arrival, since the order of the user may contradict itself.
    var numbers: [Int: Int] = [:]
    for (place, arrival) in arrivals.enumerated() { numbers[arrival] = place }
    var next = values.count
    return edits.compactMap { edit in
      let old = members[edit.id]
      let value = edit.value.flatMap { isIncluded($0) ? $0 : nil }
      if old == nil, value == nil { return nil }
      if old == nil { lastArrival += 1 }
      let arrival = old?.arrival ?? lastArrival
      let former = old.flatMap { numbers[$0.arrival] }
      let new = value.map { Member(value: $0, arrival: arrival) }
      members[edit.id] = new
      if new != nil {
        numbers[arrival] = next
        next += 1
      }
      return Version(former: former, new: new, number: next - 1)
    }
  }

  /// Returns the numbers of the members of the list and of the inserted ones, sorted together.
  @inlinable
  func merged(_ versions: [Version]) -> [Int] {
    let added = versions.compactMap { version in version.new.map { (version.number, $0) } }
      .sorted { isBefore($0.1, $1.1) }
    var order: [Int] = []
    order.reserveCapacity(values.count + added.count)
    var place = 0
    for (number, new) in added {
      while place < values.count, !isBefore(new, member(at: place)) {
        order.append(place)
        place += 1
      }
      order.append(number)
    }
    order.append(contentsOf: place..<values.count)
    return order
  }
}

/// A set of places that counts its elements before a place: a Fenwick tree.
///
/// - Complexity: O(log *n*) each.
@usableFromInline
struct PresenceCount {
  @usableFromInline var isPresent: [Bool]
  @usableFromInline var sums: [Int]

  @inlinable
  init(_ isPresent: [Bool]) {
    self.isPresent = isPresent
    sums = [0] + isPresent.map { $0 ? 1 : 0 }
    for index in sums.indices.dropFirst() {
      let parent = index + (index & -index)
      if parent < sums.count { sums[parent] += sums[index] }
    }
  }

  @inlinable
  func contains(_ place: Int) -> Bool {
    isPresent[place]
  }

  /// Inserts an absent place; returns the number of elements before it.
  @inlinable
  mutating func insert(_ place: Int) -> Int {
    change(place, true)
    return countBefore(place)
  }

  /// Removes a present place; returns the number of elements before it.
  @inlinable
  mutating func remove(_ place: Int) -> Int {
    change(place, false)
    return countBefore(place)
  }

  @inlinable
  mutating func change(_ place: Int, _ isHere: Bool) {
    isPresent[place] = isHere
    var index = place + 1
    while index < sums.count {
      sums[index] += isHere ? 1 : -1
      index += index & -index
    }
  }

  @inlinable
  func countBefore(_ place: Int) -> Int {
    var (count, index) = (0, place)
    while index > 0 {
      count += sums[index]
      index -= index & -index
    }
    return count
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
