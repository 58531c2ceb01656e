/// The births, last writes, and deadlines of entries.
@usableFromInline
struct MemoryExpiry: Sendable {
  @usableFromInline
  @frozen
  struct Stamp: Sendable, BitwiseCopyable {
    @usableFromInline var bornAt: Int64
    @usableFromInline var revision: Revision

    @inlinable
    init(bornAt: Int64, revision: Revision) {
      self.bornAt = bornAt
      self.revision = revision
    }
  }

  @usableFromInline var stamps = ChunkedArray<Stamp>()

  /// The deadlines; empty while no entry has one.
  @usableFromInline var deadlines = ChunkedArray<Int64>()

  /// The ends of the values' own times to live; empty while no value has one.
  @usableFromInline var ownDeadlines = ChunkedArray<Int64>()

  /// The last uses; empty unless entries expire when they are not used.
  @usableFromInline var lastUses = ChunkedArray<Int64>()

  /// The time to idle; `Int64.max` for none.
  @usableFromInline let idleTime: Int64

  @usableFromInline
  init(timeToIdle: TimeToLive) {
    idleTime = timeToIdle.deadline(from: 0)
  }

  private init(idleTime: Int64) {
    self.idleTime = idleTime
  }

  /// Returns a copy without entries.
  func emptied() -> MemoryExpiry {
    MemoryExpiry(idleTime: idleTime)
  }

  /// Takes over the times of an entry of another store.
  @usableFromInline
  mutating func adopt(_ slot: Slot, from other: MemoryExpiry, _ theirs: Slot) {
    let theirs = Int(theirs)
    let deadline = theirs < other.deadlines.count ? other.deadlines[theirs] : .max
    let lastUse = theirs < other.lastUses.count ? other.lastUses[theirs] : 0
    let own = theirs < other.ownDeadlines.count ? other.ownDeadlines[theirs] : .max
    set(slot, other.stamps[theirs], deadline: deadline, own: own, lastUse)
  }

  @inlinable
  var expires: Bool {
    !deadlines.isEmpty || idleTime < .max
  }

  @usableFromInline
  mutating func reserve(_ capacity: Int) {
    stamps.reserve(capacity)
    if !deadlines.isEmpty { deadlines.reserve(capacity) }
    if !ownDeadlines.isEmpty { ownDeadlines.reserve(capacity) }
    if idleTime < .max { lastUses.reserve(capacity) }
  }

  @usableFromInline
  mutating func set(
    _ slot: Slot, _ stamp: Stamp, deadline: Int64, own: Int64, _ now: Int64
  ) {
    stamps.put(stamp, at: slot)
    let slot = Int(slot)
    if deadline < .max || !deadlines.isEmpty {
      Self.set(slot, deadline, in: &deadlines)
      if own < .max || !ownDeadlines.isEmpty { Self.set(slot, own, in: &ownDeadlines) }
    }
    if idleTime < .max { Self.set(slot, now, in: &lastUses) }
  }

  /// Moves the times of the last slot to another, unless that is the same, and gives up the last.
  mutating func removeLast(to place: Slot) {
    let last = Slot(stamps.count - 1)
    stamps[place] = stamps[last]
    stamps.removeLast()
    Self.removeLast(last, to: place, in: &deadlines)
    Self.removeLast(last, to: place, in: &ownDeadlines)
    Self.removeLast(last, to: place, in: &lastUses)
  }

  @inlinable
  func isExpired(_ slot: Slot, _ now: Int64) -> Bool {
    if Int(slot) < deadlines.count, now >= deadlines[Int(slot)] { return true }
    return isIdle(slot, now)
  }

  /// Whether the entry has expired because it was not used.
  @inlinable
  func isIdle(_ slot: Slot, _ now: Int64) -> Bool {
    Int(slot) < lastUses.count && now &- lastUses[Int(slot)] >= idleTime
  }

  /// Records a use of an entry.
  @inlinable
  mutating func touch(_ slot: Slot, _ now: Int64) {
    if Int(slot) < lastUses.count { lastUses[Int(slot)] = now }
  }

  @inlinable
  func age(of slot: Slot, _ now: Int64) -> Duration {
    .nanoseconds(nanoseconds(of: slot, now))
  }

  /// Returns the age in nanoseconds, at least zero.
  @inlinable
  func nanoseconds(of slot: Slot, _ now: Int64) -> Int64 {
    let (age, isBeyond) = now.subtractingReportingOverflow(stamps[Int(slot)].bornAt)
    return isBeyond ? .max : max(0, age)
  }

  /// Returns the rest of an entry's own time to live in nanoseconds; `Int64.max` if it has none.
  @inlinable
  func rest(of slot: Slot, _ now: Int64) -> Int64 {
    let slot = Int(slot)
    guard slot < ownDeadlines.count, ownDeadlines[slot] < .max else { return .max }
    let (rest, isBeyond) = ownDeadlines[slot].subtractingReportingOverflow(now)
    return isBeyond ? TimeToLive.unlimited : min(max(0, rest), TimeToLive.unlimited)
  }

  private static func removeLast(_ last: Slot, to place: Slot, in times: inout ChunkedArray<Int64>)
  {
    if Int(last) < times.count {
      times[place] = times[last]
      times.removeLast()
    } else if Int(place) < times.count {
      times[place] = .max
    }
  }

  /// Sets the time of a slot; earlier slots without a time get `Int64.max`, for none.
  private static func set(_ slot: Int, _ time: Int64, in times: inout ChunkedArray<Int64>) {
    while times.count <= slot { times.append(.max) }
    times[slot] = time
  }
}
