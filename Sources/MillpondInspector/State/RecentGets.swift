import MillpondCore

/// The latest gets, up to a limit, numbered in their order.
struct RecentGets: Sendable {
  /// A get, and when it ended.
  struct Entry: Sendable {
    let number: Int
    let record: GetRecord
    let time: ContinuousClock.Instant
  }

  /// The number of gets so far.
  private(set) var count = 0

  private let limit: Int
  private var entries: [Entry] = []

  /// Creates an empty ring.
  ///
  /// - Parameter limit: The greatest number of entries; at least 1.
  init(limit: Int) {
    self.limit = max(1, limit)
  }

  /// Adds a get; returns the entry that had to leave, for its release outside a lock.
  mutating func append(_ record: GetRecord, at time: ContinuousClock.Instant) -> Entry? {
    let entry = Entry(number: count, record: record, time: time)
    count += 1
    if entries.count < limit {
      entries.append(entry)
      return nil
    }
    let place = entry.number % limit
    let former = entries[place]
    entries[place] = entry
    return former
  }

  /// Returns the newest entries from a number on, in order.
  ///
  /// - Parameter limit: The greatest number of entries.
  func latest(from number: Int, limit: Int) -> [Entry] {
    let first = max(number, count - min(limit, entries.count), 0)
    return (first..<max(first, count)).map { entries[$0 % self.limit] }
  }
}
