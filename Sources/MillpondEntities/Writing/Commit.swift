public import MillpondCore

extension EntityTables {
  /// Whether entities are to be evicted, or their eviction is to be prepared.
  @inlinable
  var isCrowded: Bool {
    storedCount > collection.threshold
  }

  /// Records that a node has received or lost its value, and its references.
  ///
  /// - Parameters:
  ///   - isStored: Whether the node has a value now.
  ///   - node: The node.
  ///   - targets: The nodes that it refers to, in `range`.
  ///   - range: The range of `targets`.
  ///   - commit: Collects the changes.
  @usableFromInline
  mutating func put(
    _ isStored: Bool, _ node: NodeNumber, _ targets: [NodeNumber], _ range: Range<Int>,
    _ commit: inout Commit
  ) {
    setStored(node, isStored)
    if isStored, graph.isKeeping, tables[Int(graph.nodes[Int(node)].table)].isQueried() {
      graph.keep(node)
    }
    let former = graph.connect(node, to: targets, in: range)
    if !former.isEmpty {
      collection.endReferences(former.count, storedCount: storedCount)
      commit.loose += former
    }
    if !isStored { commit.loose.append(node) }
    if commit.isObserved { commit.changed.append(node) }
  }

  /// Returns whether a fill is admitted.
  ///
  /// It is if the entity was not written since the token was drawn, and the token's flight still
  /// has a subscriber.
  @inlinable
  mutating func admits<E>(_ token: FillToken, for reference: Reference<E>) -> Bool {
    guard token.revision > clearedAt else { return false }
    let table = table(E.self)
    return table.order.admit(token, for: reference.id, over: table.written(reference.id))
  }

  /// Removes the nodes that nothing needs any more, and ends the commit; returns whether there are
  /// more such nodes, to be removed in steps.
  @usableFromInline
  mutating func finish(_ commit: inout Commit) -> Bool {
    endReferring(&commit)
    return forgetLoose(&commit, atMost: Commit.stepSize)
  }

  /// Records that the nodes of new references are in the graph.
  mutating func endReferring(_ commit: inout Commit) {
    isReferring = false
    if !unretained.isEmpty { endRetaining(&commit) }
    if !forgettable.isEmpty {
      commit.loose += forgettable
      forgettable = []
    }
  }

  private mutating func endRetaining(_ commit: inout Commit) {
    for node in unretained {
      if let released = release(node, commit.now) { commit.released.append(released) }
    }
    unretained = []
  }

  /// Removes up to `count` of the nodes that nothing needs any more; false if there are no others.
  mutating func forgetLoose(_ commit: inout Commit, atMost count: Int) -> Bool {
    var left = count
    while left > 0, let node = commit.loose.popLast() {
      if let released = forget(node) { commit.released.append(released) }
      left -= 1
    }
    return !commit.loose.isEmpty
  }
}

/// The work and the results of one commit.
@usableFromInline
struct Commit: Sendable {
  @usableFromInline let revision = Revision.next()
  @usableFromInline let now: Int64

  /// Whether only copies of the store are notified.
  @usableFromInline let isSilent: Bool

  /// Whether there may be observers to notify.
  @usableFromInline let isObserved: Bool

  /// The changed nodes, if there are observers.
  @usableFromInline var changed: [NodeNumber] = []

  /// The nodes that may not be needed any more.
  @usableFromInline var loose: [NodeNumber] = []

  /// The notices for subscribers of the touched types.
  @usableFromInline var notices: [Notice] = []

  /// The greatest number of edits, rows or nodes under one hold of the lock.
  @inlinable static var stepSize: Int { 256 }

  /// Objects to release after the unlock.
  @usableFromInline var released: [any Sendable] = []

  @usableFromInline
  init(now: Int64, isSilent: Bool = false, isObserved: Bool = false) {
    self.now = now
    self.isSilent = isSilent
    self.isObserved = isObserved
  }

  /// Makes room for the nodes of a step, before the lock is taken.
  mutating func makeRoom() {
    if isObserved { changed.makeRoom(for: Self.stepSize) }
    loose.makeRoom(for: 4 * Self.stepSize)
  }
}

extension Array {
  /// Makes room for `count` more elements; the array grows as by appending, but now.
  ///
  /// An array that grows under a lock is copied there, which takes long if it is long.
  mutating func makeRoom(for count: Int) {
    let needed = self.count + count
    if needed > capacity { reserveCapacity(Swift.max(needed, 2 * self.count)) }
  }
}
