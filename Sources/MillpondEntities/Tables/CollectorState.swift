/// The entities that are in use by handles, and the state of eviction.
@usableFromInline
struct CollectorState: Sendable {
  /// The retain counts of retained entities.
  @usableFromInline var retains: [NodeNumber: Int] = [:]

  let limit: EvictionLimit

  /// The number of entities beyond which eviction, or its preparation, goes on.
  @usableFromInline var threshold: Int

  /// Whether eviction has not made room, because too many entities were in use.
  var isOverfull = false

  /// Whether an entity may have gone out of use since the entities in use were last looked for.
  var hasDepartures = false

  init(_ limit: EvictionLimit) {
    self.limit = limit
    threshold = limit.preparation
  }

  /// Allows eviction to be tried again, because an entity may not be in use any more.
  @usableFromInline
  mutating func depart() {
    hasDepartures = true
    if isOverfull { threshold = limit.count }
  }

  /// Allows eviction to be tried again, because entities may not be in use any more after these
  /// references.
  ///
  /// A small store tries at once, a large store only after enough references have ended that the
  /// search costs no more than their removal.
  mutating func endReferences(_ count: Int, storedCount: Int) {
    hasDepartures = true
    if !isOverfull { return }
    let isSmall = storedCount <= EvictionLimit.smallCount
    threshold = isSmall ? limit.count : max(limit.count, threshold - 8 * count)
  }

  /// Records that fewer entities are stored, so that eviction is prepared in time.
  @usableFromInline
  mutating func prepare(from storedCount: Int) {
    if isOverfull, storedCount > limit.count { return }
    isOverfull = false
    threshold = min(threshold, limit.clamped(storedCount + limit.stride))
  }
}

/// The number of entities to keep, and the numbers that follow from it.
@usableFromInline
struct EvictionLimit: Sendable {
  /// The number of entities to keep.
  let count: Int

  /// The number of entities that are evicted once there are more than that, a batch at a time.
  let spare: Int
  let batch: Int

  /// The number of entities beyond which eviction is prepared.
  ///
  /// In a small store everything is done in one go, at the limit.
  let preparation: Int

  /// The number of new entities from one go to the next.
  let stride: Int

  init(_ limit: Int) {
    count = max(0, limit)
    spare = count / 8
    if count <= Self.smallCount {
      (batch, preparation, stride) = (spare, count, 0)
    } else {
      (batch, preparation, stride) = (2 * Self.fullStride, count - spare, Self.fullStride)
    }
  }

  /// Returns the number of entities, but none below the preparation or beyond the limit.
  func clamped(_ storedCount: Int) -> Int {
    min(count, max(preparation, storedCount))
  }

  /// The greatest number of entities of a small store.
  static var smallCount: Int { 1_024 }

  private static var fullStride: Int { 32 }
}
