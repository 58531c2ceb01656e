/// What a store was last told, key by key, in bounded room: keys are known by their hashes.
///
/// Two questions are answered. Whether a *fill* comes too late: many keys share a stripe, so that
/// now and then one is refused for another key's sake, which costs a later miss. And whether a
/// *telling* comes too late: that has to be exact, since a telling is promised to be seen, so what
/// is no longer to be found in the store, a removal, is remembered hash by hash. Of more than so
/// many the older ones are forgotten together; then a telling is refused that is older than those.
@usableFromInline
package struct ToldKeys: Sendable {
  @usableFromInline var stripes: [Revision] = []
  @usableFromInline var floor = Revision.none
  @usableFromInline var remembered: [Int: Revision] = [:]
  @usableFromInline var forgotten = Revision.none

  @usableFromInline
  package init() {}

  /// The last telling that could concern a key with this hash: the mark of the moment.
  @usableFromInline
  package func mark(_ hash: Int) -> Revision {
    stripes.isEmpty ? floor : max(floor, stripes[hash & (Self.stripeCount - 1)])
  }

  /// Makes all fills too late that were asked for before this telling.
  @usableFromInline
  package mutating func outdateFills(_ hash: Int, _ revision: Revision) {
    if stripes.isEmpty { stripes = Array(repeating: .none, count: Self.stripeCount) }
    let stripe = hash & (Self.stripeCount - 1)
    stripes[stripe] = max(stripes[stripe], revision)
  }

  /// Whether a later telling for this key is remembered.
  @usableFromInline
  package func outdates(_ hash: Int, _ revision: Revision) -> Bool {
    revision < max(floor, remembered[hash] ?? forgotten)
  }

  /// Remembers a telling of which the store keeps nothing that would tell of it.
  @usableFromInline
  package mutating func remember(_ hash: Int, _ revision: Revision) {
    if remembered.count >= Self.rememberedCount { forgetOlderHalf() }
    remembered[hash] = max(remembered[hash] ?? .none, revision)
  }

  /// Notes a telling that concerns all keys; false if a later one of that kind came before.
  @usableFromInline
  package mutating func tellAll(_ revision: Revision) -> Bool {
    guard revision >= floor else { return false }
    floor = revision
    return true
  }

  private mutating func forgetOlderHalf() {
    let middle = remembered.values.sorted()[remembered.count / 2]
    forgotten = max(forgotten, middle)
    remembered = remembered.filter { $0.value > middle }
  }

  private static var stripeCount: Int { 1_024 }
  private static var rememberedCount: Int { 1_024 }
}
