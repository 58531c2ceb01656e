/// The flights of a table in the order in which they began: a linked list that owns nothing, so
/// that adding and removing cost a few stores.
///
/// A census of all flights has a place in the list too, and advances a few flights at a time, so no
/// caller waits for all of it.
@usableFromInline
struct FlightList: Sendable {
  @usableFromInline unowned(unsafe) var newest: FlightPlace?

  /// The number of removals of all flights.
  @usableFromInline var removalCount = 0

  @inlinable
  init() {}

  @inlinable
  mutating func append(_ place: FlightPlace) {
    place.older = newest
    newest?.newer = place
    newest = place
  }

  /// Removes a place that is in the list.
  @inlinable
  mutating func remove(_ place: FlightPlace) {
    if let newer = place.newer { newer.older = place.older } else { newest = place.older }
    place.older?.newer = place.newer
    place.newer = nil
    place.older = nil
  }

  /// Removes all places; their links to neighbours are invalid from then on.
  @inlinable
  mutating func removeAll() {
    newest = nil
    removalCount += 1
  }

  // MARK: Censuses

  /// Begins a census unless it has begun; false if it has ended.
  mutating func begin(_ census: FlightCensus) -> Bool {
    if census.removalCount == nil {
      census.removalCount = removalCount
      append(census)
    }
    return census.removalCount == removalCount && !census.hasEnded
  }

  /// Advances a census by one place, from the newest to the oldest, and returns that; nil at the
  /// end.
  mutating func advance(_ census: FlightCensus) -> FlightPlace? {
    guard let passed = census.older else {
      remove(census)
      census.hasEnded = true
      return nil
    }
    // Between the passed place and the next older one.
    remove(census)
    census.newer = passed
    census.older = passed.older
    passed.older?.newer = census
    passed.older = census
    return passed
  }
}

/// A place in the list of the flights of a table.
///
/// Sendable because it changes only under the lock of the table.
@usableFromInline
class FlightPlace: @unchecked Sendable {
  @exclusivity(unchecked) @usableFromInline unowned(unsafe) var older: FlightPlace?
  @exclusivity(unchecked) @usableFromInline unowned(unsafe) var newer: FlightPlace?

  @inlinable
  init() {
    older = nil
    newer = nil
  }
}

/// A census of all flights of a table, in steps: it sees none that begins meanwhile, and may see
/// one that ends.
final class FlightCensus: FlightPlace, @unchecked Sendable {
  /// The removals of all flights at the beginning; nil before it.
  var removalCount: Int?
  var hasEnded = false
}
