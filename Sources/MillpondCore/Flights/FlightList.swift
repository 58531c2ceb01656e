/// The flights of a table in the order in which they came: a linked list that owns nothing, so that it
/// costs a few stores to come and go.
///
/// Whoever looks at all flights has a place in it, too, and moves on by a few at a time; so nobody waits
/// for a list of all.
@usableFromInline
struct FlightList: Sendable {
  @usableFromInline unowned(unsafe) var newest: FlightPlace?

  /// How often all flights were taken out at once.
  @usableFromInline var removalCount = 0

  @inlinable
  init() {}

  @inlinable
  mutating func append(_ place: FlightPlace) {
    place.older = newest
    newest?.newer = place
    newest = place
  }

  /// Takes a place out that is in the list.
  @inlinable
  mutating func remove(_ place: FlightPlace) {
    if let newer = place.newer { newer.older = place.older } else { newest = place.older }
    place.older?.newer = place.newer
    place.newer = nil
    place.older = nil
  }

  /// Takes all out; what they know of their neighbours means nothing any more.
  @inlinable
  mutating func removeAll() {
    newest = nil
    removalCount += 1
  }

  // MARK: Censuses

  /// Puts a census at its beginning, unless it is on its way; false if it has come to its end.
  mutating func begin(_ census: FlightCensus) -> Bool {
    if census.removalCount == nil {
      census.removalCount = removalCount
      append(census)
    }
    return census.removalCount == removalCount && !census.hasEnded
  }

  /// Moves a census by one place, from the newest to the oldest, and gives that; nil at the end.
  mutating func advance(_ census: FlightCensus) -> FlightPlace? {
    guard let passed = census.older else {
      remove(census)
      census.hasEnded = true
      return nil
    }
    // Between the one that is passed and the one before it.
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

/// A look at all flights of a table, in steps: what comes meanwhile is not seen, what goes may be.
final class FlightCensus: FlightPlace, @unchecked Sendable {
  /// Of the list at the beginning; nil before.
  var removalCount: Int?
  var hasEnded = false
}
