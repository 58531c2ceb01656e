/// A value on its way in.
@usableFromInline
struct MemoryEntry<Value: Sendable>: Sendable {
  @usableFromInline let value: Value
  @usableFromInline let cost: Int

  /// In nanoseconds of the cache's clock.
  @usableFromInline let bornAt: Int64

  /// When it expires, by the same clock; `Int64.max` is never.
  @usableFromInline let deadline: Int64

  @usableFromInline let validator: Validator?
  @usableFromInline var revision: Revision

  @inlinable
  init(
    value: Value, cost: Int, bornAt: Int64, deadline: Int64, validator: Validator?,
    revision: Revision
  ) {
    self.value = value
    self.cost = cost
    self.bornAt = bornAt
    self.deadline = deadline
    self.validator = validator
    self.revision = revision
  }
}
