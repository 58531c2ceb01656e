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
