import MillpondCore

/// The times of a value on disk.
struct DiskExpiry: Sendable, Equatable, BitwiseCopyable {
  /// The time at which the value left its origin.
  var storedAt: WallTime

  /// The time from which on it is a miss.
  var expiresAt = WallTime.never

  /// Whether it expires by a time to live of its own, so that a layer above keeps it no longer.
  var isOwnExpiry = false

  /// Returns the rest of the value's own time to live; nil if it has none.
  ///
  /// A step back of the clock prolongs it no further than to the whole time.
  func rest(at now: WallTime) -> TimeToLive? {
    isOwnExpiry ? .after(expiresAt.time(since: max(now, storedAt))) : nil
  }

  func age(at now: WallTime) -> Duration { storedAt.age(at: now) }

  /// Whether the value has expired; one with a timestamp in the future has, since its age is
  /// unknown.
  func isOver(at now: WallTime) -> Bool {
    expiresAt != .never && (expiresAt <= now || storedAt.isAfter(now))
  }
}

extension DiskExpiry {
  /// The times of a value that a caller sets: its own time to live replaces that of the cache.
  static func ofWrite(
    _ stamped: Stamped<some Sendable>, _ timeToLive: TimeToLive, at now: WallTime
  ) -> DiskExpiry {
    var times = ofFill(stamped, timeToLive, at: now)
    if let own = stamped.timeToLive { times.expiresAt = now.after(own) }
    return times
  }

  /// The times of a value that a lower layer answered: the shorter of both times to live counts.
  static func ofFill(
    _ stamped: Stamped<some Sendable>, _ timeToLive: TimeToLive, at now: WallTime
  ) -> DiskExpiry {
    let storedAt = now.before(by: stamped.age)
    let expiresAt = storedAt.after(timeToLive)
    guard let own = stamped.timeToLive else {
      return DiskExpiry(storedAt: storedAt, expiresAt: expiresAt)
    }
    return DiskExpiry(
      storedAt: storedAt, expiresAt: min(expiresAt, now.after(own)), isOwnExpiry: own != .forever)
  }
}
