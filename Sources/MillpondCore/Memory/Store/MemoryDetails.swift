/// What is kept of a value beside itself.
@usableFromInline
struct MemoryDetails: Sendable, BitwiseCopyable {
  @usableFromInline let cost: Int

  /// In nanoseconds of the cache's clock.
  @usableFromInline let bornAt: Int64

  /// When it expires, by the same clock; `Int64.max` is never.
  @usableFromInline let deadline: Int64

  @usableFromInline var revision: Revision

  @inlinable
  init(cost: Int, bornAt: Int64, deadline: Int64, revision: Revision) {
    self.cost = cost
    self.bornAt = bornAt
    self.deadline = deadline
    self.revision = revision
  }
}
