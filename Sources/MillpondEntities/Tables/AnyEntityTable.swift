public import MillpondCore
public import MillpondSignals

/// A table of entities of any type.
@usableFromInline
protocol AnyEntityTable: AnyObject, Sendable {
  /// Whether a live query shows the table's entities.
  var isQueried: Bool { get }

  /// The greatest depth at which a subscriber notices changes of what the entities refer to.
  var depth: UInt8 { get }

  /// The nodes of the stored entities.
  var storedNodes: [NodeNumber] { get }

  /// Returns the subscribers with a depth, and the edits of the present commit for them; nil if
  /// there are none.
  ///
  /// - Parameter last: The number of the last subscriber that has not seen the changes yet.
  @inlinable
  func takeDeepEdits(upTo last: Int) -> DeepQueryEdits?

  /// Records that the entity in a row is used now.
  @inlinable
  func touch(_ row: Int32, _ now: Int64)

  /// Whether most rows are vacant.
  @inlinable
  var isSparse: Bool { get }

  /// Gives up the last rows, whose entities move to vacant ones, and updates the nodes.
  ///
  /// - Parameters:
  ///   - graph: The graph of the nodes.
  ///   - count: The greatest number of rows.
  /// - Returns: Whether there are more, and memory to be released after the unlock.
  @inlinable
  func shrink(
    _ graph: inout ReferenceGraph, atMost count: Int
  ) -> (goesOn: Bool, released: (any Sendable)?)

  /// Records that a row now belongs to another node.
  @inlinable
  func move(_ row: Int32, to node: NodeNumber)
}

/// The edits of a commit for queries with a depth, which also notice changes of the entities that
/// theirs refer to.
@usableFromInline
struct DeepQueryEdits: Sendable {
  /// Adds an unchanged entity that refers to a changed one, given its row and the number of
  /// references in between; called under the lock.
  @usableFromInline let add: @Sendable (_ row: Int32, _ distance: Int) -> Void

  /// Returns the notices for the subscribers.
  @usableFromInline let notices: @Sendable () -> [Notice]

  @inlinable
  init<E: Identifiable & Sendable>(
    _ table: EntityTable<E>, _ edits: [TableEdit<E>], _ listeners: [Int: TableListener<E>]
  ) where E.ID: Sendable {
    // Touched only by the writer.
    let related = SerialState<[(edit: TableEdit<E>, distance: Int)]>([])
    add = { row, distance in
      guard let value = table.rows[Int(row)].value else { return }
      related.value.append((TableEdit(id: value.id, value: value), distance))
    }
    notices = {
      listeners.sorted { $0.key < $1.key }.compactMap { _, listener in
        let touched = related.value
          .filter { ReferenceGraph.reaches(listener.depth, $0.distance) }.map(\.edit)
        return edits.isEmpty && touched.isEmpty ? nil : listener.notice(edits + touched)
      }
    }
  }
}

/// The last use of an entity; the least recent is evicted first.
@usableFromInline
struct EntityUse: Sendable, Comparable {
  @usableFromInline let touched: Int64
  @usableFromInline let stored: Revision

  @inlinable
  init(touched: Int64, stored: Revision) {
    self.touched = touched
    self.stored = stored
  }

  @inlinable
  static func < (left: EntityUse, right: EntityUse) -> Bool {
    (left.touched, left.stored) < (right.touched, right.stored)
  }
}

extension EntityTable: AnyEntityTable {
  @inlinable
  var isQueried: Bool {
    listeners.values.contains { $0.isQuery }
  }

  @inlinable
  func touch(_ row: Int32, _ now: Int64) {
    rows[Int(row)].touched = now
  }

  /// Records that the entity in a row was stored again, by a write or a fill.
  @inlinable
  func touch(_ row: Int32, _ now: Int64, _ revision: Revision) {
    rows[Int(row)].touched = now
    rows[Int(row)].stored = revision
  }

  /// Empties rows whose entities are not observed; returns the notices for queries and copies.
  @inlinable
  func empty(_ emptied: [Int32]) -> (released: any Sendable, notices: [Notice]) {
    let edits = emptied.compactMap { row in
      rows[Int(row)].id.map { TableEdit<E>(id: $0, value: nil) }
    }
    let old = emptied.map { row in
      forgetWrite(row)
      return rows[Int(row)].value.take()
    }
    return ((old, order.takeForgotten()), notices(of: edits))
  }

  /// Moves the last write of a row's entity to the memory of the write order.
  @inlinable
  func forgetWrite(_ row: Int32) {
    let revision = rows[Int(row)].written
    if revision != .none, let id = rows[Int(row)].id { order.forget(id, revision) }
  }

  /// - Parameters:
  ///   - edits: The edits of a commit.
  ///   - confirmed: The edits for copies, which see only confirmed values; nil for the same.
  ///   - isSilent: Whether queries are left out.
  ///   - last: The number of the last subscriber that has not seen the edits yet.
  @inlinable
  func notices(
    of edits: [TableEdit<E>], confirmed: [TableEdit<E>]? = nil, isSilent: Bool = false,
    upTo last: Int = .max
  ) -> [Notice] {
    if edits.isEmpty, confirmed?.isEmpty != false { return [] }
    if listeners.isEmpty { return [] }
    if depth > 0, !isSilent { deepEdits = edits }
    return listeners.sorted { $0.key < $1.key }.compactMap { number, listener in
      if number > last || listener.depth > 0 || isSilent && listener.isQuery { return nil }
      let edits = listener.isQuery ? edits : confirmed ?? edits
      return edits.isEmpty ? nil : listener.notice(edits)
    }
  }

  @inlinable
  func takeDeepEdits(upTo last: Int) -> DeepQueryEdits? {
    let edits = exchange(&deepEdits, with: [])
    if depth == 0 { return nil }
    let listeners = listeners.filter { $0.key <= last && $0.value.depth > 0 }
    return listeners.isEmpty ? nil : DeepQueryEdits(self, edits, listeners)
  }

  /// Adds or removes a subscriber.
  ///
  /// - Returns: The removed subscriber, to be released after the unlock.
  @inlinable
  func setListener(_ listener: TableListener<E>?, _ number: Int) -> TableListener<E>? {
    let former = listeners.removeValue(forKey: number)
    listeners[number] = listener
    depth = listeners.values.lazy.map(\.depth).max() ?? 0
    return former
  }

  @inlinable
  var isSparse: Bool {
    vacant.areMost(of: rows.count)
  }

  @inlinable
  func shrink(
    _ graph: inout ReferenceGraph, atMost count: Int
  ) -> (goesOn: Bool, released: (any Sendable)?) {
    if vacant.count == rows.count {
      let former = (rows, vacant, index)
      (rows, vacant, index) = (PagedArray(), FreeList(), SlotTables())
      return (false, former)
    }
    for _ in 0..<count where vacant.count > 0 { giveUpLastRow(&graph) }
    return (vacant.count > 0, nil)
  }

  @inlinable
  func giveUpLastRow(_ graph: inout ReferenceGraph) {
    let last = rows.count - 1
    if let id = rows[last].id, let place = vacant.take(before: last) {
      rows[Int(place)] = rows[last]
      graph.nodes[Int(rows[last].node)].row = place
      index.move(hash(id), from: Int32(last), to: place)
    } else {
      vacant.giveUpLast()
    }
    rows.removeLast()
  }

  @inlinable
  func move(_ row: Int32, to node: NodeNumber) {
    rows[Int(row)].node = node
  }

  /// Frees an empty row, and returns its contents for release after the unlock.
  @inlinable
  func forget(_ row: Int32) -> any Sendable {
    let old = rows[Int(row)]
    guard let id = old.id else { return () }
    rows[Int(row)] = Row(id: nil, node: ReferenceGraph.none)
    index.remove(hash(id), row)
    vacant.add(row)
    return id
  }
}
