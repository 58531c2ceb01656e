import MillpondCore
import MillpondSignals

/// The search for those of several changes that each observed node depends on, in steps between
/// which the lock may be free.
///
/// A few observers each walk down to their causes. For many, the causes are carried up to all of
/// them, 64 at a time; a step of that takes about eight times as long.
struct ChangeCauseSearch: Sendable {
  private enum Phase: Sendable {
    case next
    case descending(ReferenceGraph.Descent)
    case tracing(ReferenceGraph.Origins)
    case collecting(ReferenceGraph.Origins)
  }

  private let nodes: [NodeNumber]
  private let changed: [NodeNumber]
  private let references: [AnyReference]
  private let isDownward: Bool
  private var phase = Phase.next

  /// The places of the first changes, for walks down; -1 for all other nodes.
  private var places = SparseArray(common: Int32(-1))
  private var placeCount = 0

  /// The number of the node of the present walk down; or the first change of the block that is
  /// carried up, and the number of the node to which it is added next.
  private var node = 0
  private var start = 0

  /// The causes that belong to the bits of the present block.
  private var known: [UInt64: [AnyReference]] = [:]

  /// The causes for each node, in the order of the changes.
  private(set) var causes: [[AnyReference]]

  private static var bitCount: Int { UInt64.bitWidth }

  init(of nodes: [NodeNumber], _ changed: [NodeNumber], _ references: [AnyReference]) {
    self.nodes = nodes
    self.changed = changed
    self.references = references
    causes = nodes.map { _ in [] }
    isDownward = nodes.count <= 8 * ((changed.count + Self.bitCount - 1) / Self.bitCount)
  }

  /// Continues for `left` steps, under the lock; returns whether there is more.
  mutating func advance(_ left: inout Int, _ graph: inout ReferenceGraph) -> Bool {
    while left > 0 {
      switch exchange(&phase, with: .next) {
      case .next where isDownward && placeCount < changed.count:
        left -= 1
        places[changed[placeCount]] = Int32(placeCount)
        placeCount += 1
      case .next:
        guard isDownward ? node < nodes.count : start < changed.count else { return false }
        phase =
          isDownward
          ? .descending(graph.beginDescent(from: nodes[node]))
          : .tracing(graph.beginOrigins(of: changed[block]))
      case .descending(var descent):
        if graph.descend(&descent, &left) {
          phase = .descending(descent)
        } else {
          let found = descent.reached.map { places[$0] }.filter { $0 >= 0 }
          causes[node] = found.sorted().map { references[Int($0)] }
          node += 1
        }
      case .tracing(var origins):
        phase = graph.trace(&origins, &left) ? .tracing(origins) : .collecting(origins)
      case .collecting(let origins):
        if collect(origins, &left) { phase = .collecting(origins) }
      }
    }
    return true
  }

  private var block: Range<Int> {
    start..<min(changed.count, start + Self.bitCount)
  }

  /// Adds the causes of a block to the nodes.
  private mutating func collect(_ origins: ReferenceGraph.Origins, _ left: inout Int) -> Bool {
    while left > 0, node < nodes.count {
      left -= 1
      let bits = origins.bits[nodes[node]]
      if bits != 0 {
        // With its type: Foundation, if it is visible, adds operators that would make it optional.
        let found: [AnyReference] =
          known[bits] ?? block.filter { bits >> UInt64($0 - start) & 1 == 1 }.map { references[$0] }
        known[bits] = found
        causes[node] = causes[node].isEmpty ? found : causes[node] + found
      }
      node += 1
    }
    if node < nodes.count { return true }
    (node, start, known) = (0, start + Self.bitCount, [:])
    return false
  }
}
