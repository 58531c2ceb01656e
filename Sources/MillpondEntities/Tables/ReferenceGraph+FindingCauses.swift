import MillpondCore

/// The search for those of several changes that each observed node depends on, through the nodes of
/// the last walk up.
extension ReferenceGraph {
  /// Returns the causes for each of the observed nodes, in the order of the changes.
  ///
  /// A few observers each walk down to their causes. For many, the causes are carried up to all of
  /// them, 64 at a time.
  ///
  /// - Parameters:
  ///   - nodes: The observed nodes.
  ///   - changed: The changed nodes.
  ///   - causes: What the observers are told of each changed node.
  mutating func causes<Cause>(
    of nodes: [NodeNumber], among changed: [NodeNumber], _ causes: [Cause]
  ) -> [[Cause]] {
    if causes.count == 1 { return nodes.map { _ in causes } }
    let blockCount = (changed.count + UInt64.bitWidth - 1) / UInt64.bitWidth
    return nodes.count <= 8 * blockCount
      ? lookedFor(below: nodes, changed, causes) : carried(upTo: nodes, changed, causes)
  }

  private mutating func lookedFor<Cause>(
    below nodes: [NodeNumber], _ changed: [NodeNumber], _ causes: [Cause]
  ) -> [[Cause]] {
    var places = SparseArray(common: Int32(-1))
    for (place, node) in changed.enumerated() { places[node] = Int32(place) }
    return nodes.map { node in
      let found = pass(below: [node]) { [walk] in $0.seen == walk }.map { places[$0] }
        .filter { $0 >= 0 }
      return found.sorted().map { causes[Int($0)] }
    }
  }

  private mutating func carried<Cause>(
    upTo nodes: [NodeNumber], _ changed: [NodeNumber], _ causes: [Cause]
  ) -> [[Cause]] {
    var found: [[Cause]] = nodes.map { _ in [] }
    for start in stride(from: 0, to: changed.count, by: UInt64.bitWidth) {
      let block = start..<min(changed.count, start + UInt64.bitWidth)
      let origins = origins(of: changed[block])
      // Most nodes share their causes with others.
      var known: [UInt64: [Cause]] = [:]
      for (place, node) in nodes.enumerated() where origins[node] != 0 {
        let bits = origins[node]
        // With its type: Foundation, if it is visible, adds operators that would make it optional.
        let here: [Cause] =
          known[bits] ?? block.filter { bits >> UInt64($0 - start) & 1 == 1 }.map { causes[$0] }
        known[bits] = here
        if found[place].isEmpty { found[place] = here } else { found[place] += here }
      }
    }
    return found
  }

  /// Returns the changes that are below each node, or the node itself, a bit for each.
  ///
  /// A node is visited again only when it gets more bits, so thousands of observers do not each
  /// search for the same change.
  ///
  /// - Complexity: O(*n*) in the nodes above the changes, and at most 64 times that.
  mutating func origins(of changes: some Collection<NodeNumber>) -> SparseArray<UInt64> {
    var (origins, waiting): (SparseArray<UInt64>, [NodeNumber]) = (SparseArray(common: 0), [])
    func add(_ bits: UInt64, to node: NodeNumber) {
      guard nodes[Int(node)].seen == walk, origins[node] | bits != origins[node] else { return }
      origins[node] |= bits
      waiting.append(node)
    }
    for (bit, node) in changes.enumerated() { add(1 << UInt64(bit), to: node) }
    while let number = waiting.popLast() {
      var next = nodes[Int(number)].firstIn
      // The edges of marked sources come first.
      while next != Self.none, isMarked(edges[Int(next)].source) {
        steps += 1
        add(origins[number], to: edges[Int(next)].source)
        next = edges[Int(next)].nextIn
      }
    }
    return origins
  }

  /// Walks down from `roots`, through nodes that are included; returns these and the roots.
  mutating func pass(
    below roots: [NodeNumber], where isIncluded: (Node) -> Bool = { _ in true }
  ) -> [NodeNumber] {
    beginPassage()
    var (passed, place): ([NodeNumber], Int) = ([], 0)
    for root in roots { pass(root, &passed) }
    while place < passed.count {
      var next = nodes[Int(passed[place])].firstOut
      while next != Self.none {
        let edge = edges[Int(next)]
        if isIncluded(nodes[Int(edge.target)]) {
          steps += 1
          pass(edge.target, &passed)
        }
        next = edge.nextOut
      }
      place += 1
    }
    return passed
  }

  /// Returns whether the last walk down has passed a node.
  func isPassed(_ number: NodeNumber) -> Bool {
    nodes[Int(number)].passed == passage
  }
}
