/// What of a store is in use though nobody refers to it, and whether there is room for more.
@usableFromInline
struct CollectorState: Sendable {
  /// How often entities are retained that are.
  @usableFromInline var retains: [NodeNumber: Int] = [:]

  /// Below this count nothing has to be dropped for room, since it was tried in vain.
  @usableFromInline var crowd = 0

  /// Whether a collector goes through what is in use, and what has come into use meanwhile.
  @usableFromInline var isCollecting = false
  @usableFromInline var arrivals: [NodeNumber] = []

  @usableFromInline
  init() {}

  /// Notes that an entity is in use from now on.
  @usableFromInline
  mutating func arrive(_ node: NodeNumber) {
    if isCollecting { arrivals.append(node) }
  }

  /// Lets room be looked for again, since something may have gone out of use.
  @usableFromInline
  mutating func depart() {
    crowd = 0
  }
}
