/// The number of entities to keep, and the number beyond which eviction is tried.
@usableFromInline
struct EvictionLimit: Sendable {
  /// The number of entities to keep.
  let count: Int

  /// The number of entities beyond which eviction is tried: the limit, or more if too many entities
  /// were in use the last time.
  @usableFromInline private(set) var threshold: Int

  init(_ limit: Int) {
    count = max(0, limit)
    threshold = count
  }

  /// Returns the number of entities to evict, so that not every set has to evict some.
  func surplus(of storedCount: Int) -> Int {
    storedCount - count + count / 16
  }

  /// Records how many entities an eviction has left.
  mutating func evicted(to storedCount: Int) {
    threshold = storedCount > count ? storedCount + max(64, storedCount / 8) : count
  }

  /// Allows eviction to be tried again, because an entity may not be in use any more.
  @usableFromInline
  mutating func depart() {
    threshold = count
  }

  /// Allows eviction to be tried again, because entities may not be in use any more after these
  /// references.
  ///
  /// A small store tries at once, a large store only after enough references have ended that the
  /// search costs no more than their removal.
  mutating func endReferences(_ count: Int, storedCount: Int) {
    threshold =
      storedCount <= Self.smallCount ? self.count : max(self.count, threshold - 8 * count)
  }

  /// Records that fewer entities are stored.
  mutating func lower(to storedCount: Int) {
    if storedCount <= count { threshold = count }
  }

  /// The greatest number of entities of a small store.
  private static var smallCount: Int { 1_024 }
}
