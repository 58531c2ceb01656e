/// What a store was last told, key by key; many keys share a stripe, so that it stays small.
///
/// A telling that is older than the last one of its stripe is refused. Of two keys that share a
/// stripe the older telling is only refused if the two race.
@usableFromInline
package struct ToldStripes: Sendable {
  @usableFromInline var stripes: [Revision] = []
  @usableFromInline var floor = Revision.none

  @usableFromInline
  package init() {}

  /// The last telling that could concern a key with this hash.
  @usableFromInline
  package func last(_ hash: Int) -> Revision {
    stripes.isEmpty ? floor : max(floor, stripes[hash & (Self.count - 1)])
  }

  /// Notes a telling; false if it comes too late.
  @usableFromInline
  package mutating func tell(_ hash: Int, _ revision: Revision) -> Bool {
    guard revision >= last(hash) else { return false }
    if stripes.isEmpty { stripes = Array(repeating: .none, count: Self.count) }
    stripes[hash & (Self.count - 1)] = revision
    return true
  }

  /// Notes a telling that concerns all keys; false if a later one of that kind came before.
  @usableFromInline
  package mutating func tellAll(_ revision: Revision) -> Bool {
    guard revision >= floor else { return false }
    floor = revision
    return true
  }

  private static var count: Int { 1_024 }
}
