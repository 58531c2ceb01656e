/// When entries were born, who told of them, and when they expire.
@usableFromInline
struct MemoryTimes: Sendable {
  @usableFromInline
  struct Stamp: Sendable, BitwiseCopyable {
    @usableFromInline var bornAt: Int64
    @usableFromInline var revision: Revision

    @inlinable
    init(bornAt: Int64, revision: Revision) {
      self.bornAt = bornAt
      self.revision = revision
    }
  }

  @usableFromInline var stamps = Column<Stamp>()

  /// Empty as long as nothing expires.
  @usableFromInline var deadlines = Column<Int64>()

  /// Empty unless entries expire for not being used.
  @usableFromInline var lastUses = Column<Int64>()

  /// `Int64.max` is for ever.
  @usableFromInline let idleTime: Int64

  @usableFromInline
  init(timeToIdle: TimeToLive) {
    idleTime = timeToIdle.deadline(from: 0)
  }

  private init(idleTime: Int64) {
    self.idleTime = idleTime
  }

  /// The same without entries.
  func emptied() -> MemoryTimes {
    MemoryTimes(idleTime: idleTime)
  }

  /// Takes over what another knows of an entry.
  @usableFromInline
  mutating func adopt(_ slot: Slot, from other: MemoryTimes, _ theirs: Slot) {
    let theirs = Int(theirs)
    let deadline = theirs < other.deadlines.count ? other.deadlines[theirs] : .max
    let lastUse = theirs < other.lastUses.count ? other.lastUses[theirs] : 0
    set(slot, other.stamps[theirs], deadline: deadline, lastUse)
  }

  @inlinable
  var expires: Bool {
    !deadlines.isEmpty || idleTime < .max
  }

  @usableFromInline
  mutating func reserve(_ capacity: Int) {
    stamps.reserve(capacity)
    if !deadlines.isEmpty { deadlines.reserve(capacity) }
    if idleTime < .max { lastUses.reserve(capacity) }
  }

  @usableFromInline
  mutating func set(_ slot: Slot, _ stamp: Stamp, deadline: Int64, _ now: Int64) {
    stamps.put(stamp, at: slot)
    let slot = Int(slot)
    if deadline < .max || !deadlines.isEmpty {
      Self.set(slot, deadline, in: &deadlines)
    }
    if idleTime < .max { Self.set(slot, now, in: &lastUses) }
  }

  @inlinable
  func isExpired(_ slot: Slot, _ now: Int64) -> Bool {
    let slot = Int(slot)
    if slot < deadlines.count, now >= deadlines[slot] { return true }
    return slot < lastUses.count && now &- lastUses[slot] >= idleTime
  }

  /// An entry was used.
  @inlinable
  mutating func touch(_ slot: Slot, _ now: Int64) {
    if Int(slot) < lastUses.count { lastUses[Int(slot)] = now }
  }

  @inlinable
  func age(of slot: Slot, _ now: Int64) -> Duration {
    .nanoseconds(nanoseconds(of: slot, now))
  }

  /// The age in nanoseconds, at least zero.
  @inlinable
  func nanoseconds(of slot: Slot, _ now: Int64) -> Int64 {
    let (age, isBeyond) = now.subtractingReportingOverflow(stamps[Int(slot)].bornAt)
    return isBeyond ? .max : max(0, age)
  }

  /// The first deadlines come when there are entries already that have none.
  private static func set(_ slot: Int, _ time: Int64, in times: inout Column<Int64>) {
    while times.count <= slot { times.append(.max) }
    times[slot] = time
  }
}
