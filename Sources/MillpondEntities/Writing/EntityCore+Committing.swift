import MillpondCore
public import MillpondSignals

extension EntityCore {
  /// Commits what was written, and what users' code has written while that was compared.
  ///
  /// - Parameter released: Gets what is to be released when the turn is over, besides what the parts
  ///   of the transaction have left.
  /// - Returns: Whether anybody is to be told of anything.
  @usableFromInline
  func commit(_ released: inout [any Sendable]) -> Bool {
    var (mustTell, isLater) = (false, false)
    while !transaction.isEmpty {
      let written = transaction.takeWritten(&released)
      let parts = transaction.spent[written.places]
      for part in parts { part.prepare(isLater) }
      mustTell = step(&released, isSilent: written.isSilent) { tables, commit in
        if written.isCleared { tables.clearedAt = commit.revision }
        for part in parts { part.apply(&tables, &commit) }
      } causes: {
        parts.flatMap { $0.causes() }
      }
      if let age = written.pruning {
        let cutoff = age <= .zero ? .max : CoarseTime.birth(of: age, time.now())
        var collector = Collector(self, cutoff: cutoff)
        released += collector.prune()
        mustTell = true
      }
      isLater = true
    }
    return mustTell
  }

  /// Commits what `body` does, in one step under the lock, and drops what there is no room for.
  ///
  /// - Parameter causes: References to what has changed, for those who observe that.
  /// - Returns: Whether anybody is to be told of anything.
  @inlinable
  func step(
    _ released: inout [any Sendable], isSilent: Bool = false,
    _ body: (inout EntityTables, inout Commit) -> Void, causes: () -> [AnyReference]
  ) -> Bool {
    let now = time.now()
    let (left, mustTell, isCrowded) = withLock { tables, observers in
      let isObserved = !observers.watches.isEmpty && !isSilent
      var commit = Commit(now: now, isSilent: isSilent, isObserved: isObserved)
      body(&tables, &commit)
      if !commit.changed.isEmpty {
        observers.announce(commit.changed, in: &tables.graph, causes)
      }
      if !commit.notices.isEmpty { observers.announce(commit.notices) }
      tables.finish(&commit)
      return (commit.released, !observers.notices.isEmpty, tables.isCrowded(countLimit))
    }
    if !left.isEmpty { released += left }
    if isCrowded { makeRoom(&released) }
    return mustTell || isCrowded
  }

  @usableFromInline
  func makeRoom(_ released: inout [any Sendable]) {
    var collector = Collector(self, cutoff: .max)
    released += collector.makeRoom()
  }
}
