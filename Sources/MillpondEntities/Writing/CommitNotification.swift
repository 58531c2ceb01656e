import MillpondCore
import MillpondSignals

/// The notification of observers and lists that a commit concerns: the search for them and for the
/// causes of each notice, in steps between which the lock may be free.
///
/// The thread that commits has the turn meanwhile, so entities and references stay as they are.
/// Other threads only observe and leave: those that come have seen the new state.
@usableFromInline
struct CommitNotification: Sendable {
  private enum Phase: Sendable {
    case climbing(ReferenceGraph.Climb)
    case tracing(ChangeCauseSearch)
    case noticing
    case listing(ReferenceGraph.Listing)
    case done
  }

  private let changed: [NodeNumber]

  /// The number of the last subscriber that has not seen the changes yet.
  private let last: Int
  private var phase = Phase.done

  /// The observed nodes, and the causes of each.
  private var found: [NodeNumber] = []
  private var causes: [[AnyReference]] = []

  /// The place among the nodes, and the number of the observer of that node to whom a notice was
  /// made last.
  private var place = 0
  private var number = 0
  private var notices: [(number: Int, notice: Notice)] = []

  /// The edits for lists with a depth, by table.
  private var deepEdits: [DeepQueryEdits?]

  /// Creates the notification of a commit that has changed `changed`.
  ///
  /// - Parameters:
  ///   - changed: The changed nodes.
  ///   - last: The number of the last subscriber that has not seen the changes yet.
  ///   - isObserved: Whether any entity has observers.
  ///   - tables: The tables.
  init(
    of changed: [NodeNumber], upTo last: Int, isObserved: Bool, in tables: inout EntityTables
  ) {
    self.changed = changed
    self.last = last
    deepEdits =
      tables.deepListenerCount > 0
      ? tables.tables.indices.map { tables.tables[$0].takeDeepEdits(last) } : []
    if isObserved {
      phase = .climbing(tables.graph.beginClimb(from: changed))
    } else {
      beginListing(&tables)
    }
  }

  /// Continues for about `left` steps, under the lock; returns whether there is more.
  ///
  /// - Parameters:
  ///   - left: The number of steps.
  ///   - tables: The tables.
  ///   - watches: The observers of each entity.
  ///   - references: Returns references to the changed nodes, in the same order.
  mutating func advance(
    _ left: Int, _ tables: inout EntityTables,
    _ watches: [NodeNumber: ObserverList], _ references: () -> [AnyReference]
  ) -> Bool {
    var left = left
    while left > 0 {
      switch exchange(&phase, with: .done) {
      case .climbing(var climb):
        if tables.graph.climb(&climb, &left) {
          phase = .climbing(climb)
        } else {
          found = climb.found
          beginTracing(&tables, references)
        }
      case .tracing(var search):
        if search.advance(&left, &tables.graph) {
          phase = .tracing(search)
        } else {
          causes = search.causes
          phase = .noticing
        }
      case .noticing:
        if makeNotices(&left, &tables, watches) {
          phase = .noticing
        } else {
          beginListing(&tables)
        }
      case .listing(var listing):
        let goesOn = tables.graph.list(&listing, &left)
        for (number, distance) in exchange(&listing.found, with: []) {
          let node = tables.graph.nodes[Int(number)]
          deepEdits[Int(node.table)]?.add(node.row, distance)
        }
        if goesOn { phase = .listing(listing) }
      case .done: return false
      }
    }
    return true
  }

  private mutating func beginTracing(
    _ tables: inout EntityTables, _ references: () -> [AnyReference]
  ) {
    if found.isEmpty { return beginListing(&tables) }
    let references = references()
    if references.count == 1 {
      // A single change concerns all.
      causes = [references]
      phase = .noticing
    } else {
      phase = .tracing(ChangeCauseSearch(of: found, changed, references))
    }
  }

  /// Makes the notices for observers, with the values of this commit.
  private mutating func makeNotices(
    _ left: inout Int, _ tables: inout EntityTables,
    _ watches: [NodeNumber: ObserverList]
  ) -> Bool {
    while left > 0, place < found.count {
      left -= 1
      let row = tables.graph.nodes[Int(found[place])].row
      let causes = causes.count == 1 ? causes[0] : causes[place]
      var isCutShort = false
      watches[found[place]]?.forEach(after: number, upTo: last) { number, watch in
        if left <= 0 { isCutShort = true }
        if isCutShort { return false }
        left -= 1
        self.number = number
        notices.append((number, watch.notice(row, causes)))
        return true
      }
      if !isCutShort { (place, number) = (place + 1, 0) }
    }
    return place < found.count
  }

  private mutating func beginListing(_ tables: inout EntityTables) {
    phase =
      deepEdits.contains { $0 != nil }
      ? .listing(tables.graph.beginListing(from: changed, tables.depths)) : .done
  }

  /// Takes the notices: those for observers, in the order of their arrival, and those for lists.
  mutating func takeNotices() -> (observers: [Notice], lists: [Notice]) {
    notices.sort { $0.number < $1.number }
    return (
      exchange(&notices, with: []).map(\.notice),
      exchange(&deepEdits, with: []).flatMap { $0?.notices() ?? [] }
    )
  }
}
