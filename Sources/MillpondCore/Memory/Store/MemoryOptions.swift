/// The settings of a memory cache.
@usableFromInline
struct MemoryOptions: Sendable {
  @usableFromInline let policy: EvictionPolicy

  /// Whether entries weigh their cost; otherwise each weighs one.
  @usableFromInline let isWeighted: Bool

  @usableFromInline let timeToLive: TimeToLive
  @usableFromInline let timeToIdle: TimeToLive

  /// The greatest share of a time to live that is taken off at random, from 0 to 1.
  @usableFromInline let jitter: Double

  @usableFromInline
  init(
    policy: EvictionPolicy, isWeighted: Bool, timeToLive: TimeToLive, timeToIdle: TimeToLive,
    jitter: Double
  ) {
    self.policy = policy
    self.isWeighted = isWeighted
    self.timeToLive = timeToLive
    self.timeToIdle = timeToIdle
    self.jitter = jitter > 0 ? min(jitter, 1) : 0
  }

  /// Returns the deadline of a value that lives for so many nanoseconds from `bornAt` on; equal keys
  /// and births have equal jitter.
  @usableFromInline
  func deadline(after life: Int64, _ bornAt: Int64, _ hash: MemoryHash) -> Int64 {
    if jitter == 0 { return TimeToLive.deadline(after: life, from: bornAt) }
    var mixed = UInt64(truncatingIfNeeded: hash.whole) ^ UInt64(bitPattern: bornAt)
    mixed = (mixed ^ mixed >> 29) &* 0x9E37_79B9_7F4A_7C15
    let fraction = Double(mixed >> 11) / Double(1 << 53 as UInt64)
    return TimeToLive.deadline(after: life, from: bornAt, share: 1 - jitter * fraction)
  }
}

/// The details that are stored with a value.
@usableFromInline
@frozen
struct MemoryDetails: Sendable, BitwiseCopyable {
  @usableFromInline let cost: Int

  /// The time of birth, in nanoseconds of the cache's clock.
  @usableFromInline let bornAt: Int64

  /// The deadline by the same clock; `Int64.max` for none.
  @usableFromInline let deadline: Int64

  /// The end of the value's own time to live; `Int64.max` if it has none.
  @usableFromInline let ownDeadline: Int64

  @usableFromInline var revision: Revision

  @inlinable
  init(
    cost: Int, bornAt: Int64, deadline: Int64, ownDeadline: Int64 = .max, revision: Revision
  ) {
    self.cost = cost
    self.bornAt = bornAt
    self.deadline = deadline
    self.ownDeadline = ownDeadline
    self.revision = revision
  }
}
