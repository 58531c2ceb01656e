public import MillpondCore

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

  /// Whether a touched type has subscribers.
  @usableFromInline var isAnnounced = false

  /// Objects to release after the unlock.
  @usableFromInline var released: [any Sendable] = []

  @usableFromInline
  init(now: Int64, isSilent: Bool = false, isObserved: Bool = false) {
    self.now = now
    self.isSilent = isSilent
    self.isObserved = isObserved
  }
}

extension EntityTables {
  /// Records that a node has received or lost its value, and its references.
  ///
  /// - Parameters:
  ///   - isStored: Whether the node has a value now.
  ///   - node: The node.
  ///   - targets: The nodes that it refers to.
  ///   - commit: Collects the changes.
  @usableFromInline
  mutating func put(
    _ isStored: Bool, _ node: NodeNumber, _ targets: ArraySlice<NodeNumber>,
    _ commit: inout Commit
  ) {
    setStored(node, isStored)
    let count = commit.loose.count
    graph.connect(node, to: targets, former: &commit.loose)
    let ended = commit.loose.count - count
    if ended > 0 { limit.endReferences(ended, storedCount: storedCount) }
    if !isStored { commit.loose.append(node) }
    if commit.isObserved { commit.changed.append(node) }
  }

  /// Removes the nodes that nothing needs any more, and gives memory back: the end of a commit.
  @usableFromInline
  mutating func finish(_ commit: inout Commit) {
    isReferring = false
    for node in unretained {
      if let released = release(node, commit.now) { commit.released.append(released) }
    }
    unretained.removeAll(keepingCapacity: true)
    commit.loose += forgettable
    forgettable.removeAll(keepingCapacity: true)
    while let node = commit.loose.popLast() {
      if let released = forget(node) { commit.released.append(released) }
    }
    if hasForgotten {
      hasForgotten = false
      rebuildIfSparse(&commit.released)
    }
  }
}
