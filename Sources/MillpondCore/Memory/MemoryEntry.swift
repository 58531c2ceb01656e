/// What is kept of a value.
@usableFromInline
struct MemoryEntry<Value: Sendable>: Sendable {
  @usableFromInline let value: Value
  @usableFromInline let cost: Int
  @usableFromInline let bornAt: Duration
  @usableFromInline let validator: Validator?
  @usableFromInline let revision: Revision

  @inlinable
  init(
    value: Value, cost: Int, bornAt: Duration, validator: Validator?,
    revision: Revision
  ) {
    self.value = value
    self.cost = cost
    self.bornAt = bornAt
    self.validator = validator
    self.revision = revision
  }
}
