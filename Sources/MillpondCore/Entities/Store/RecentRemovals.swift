import MillpondSignals

/// The entities that were removed of late, by the hashes of their references, in bounded room.
///
/// Of more than so many the older ones are forgotten together; then a fill comes too late that was
/// asked for before those.
@usableFromInline
struct RecentRemovals: Sendable {
  @usableFromInline var remembered: [Int: Revision] = [:]
  @usableFromInline var forgotten = Revision.none

  @usableFromInline
  init() {}

  /// Whether a later removal is remembered.
  @usableFromInline
  func outdates(_ hash: Int, _ revision: Revision) -> Bool {
    revision < last(hash)
  }

  /// The last removal; where that is forgotten, one that is not before it.
  @usableFromInline
  func last(_ hash: Int) -> Revision {
    remembered[hash] ?? forgotten
  }

  @usableFromInline
  mutating func remember(_ hash: Int, _ revision: Revision) {
    if remembered.count >= Self.rememberedCount { forgetOlderHalf() }
    remembered[hash] = max(remembered[hash] ?? .none, revision)
  }

  private mutating func forgetOlderHalf() {
    let middle = remembered.values.sorted()[remembered.count / 2]
    forgotten = max(forgotten, middle)
    remembered = remembered.filter { $0.value > middle }
  }

  private static var rememberedCount: Int { 1_024 }
}
