/// The counters of a store since its creation, and the limits of its size.
package struct StoreCounters: Sendable, Hashable {
  package var hits = 0
  package var misses = 0
  package var insertions = 0
  package var rejections = 0
  package var evictions = 0
  package var expirations = 0

  /// The greatest number of values; nil if there is no limit.
  package var countLimit: Int?

  /// The greatest cost of the values together; nil if there is no limit.
  package var costLimit: Int?

  /// Whether the cost is a number of bytes.
  package var isInBytes = false

  package init() {}
}
