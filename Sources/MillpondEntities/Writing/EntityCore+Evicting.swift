import MillpondCore
import MillpondSignals

/// The eviction of the least recently used entities beyond the limit, and its preparation.
///
/// This thread has the turn. Between one go and the next others write; the walk that finds the
/// entities in use keeps up with that.
extension EntityCore {
  /// Evicts entities beyond the limit, and prepares further evictions.
  @usableFromInline
  func makeRoom(_ released: inout [any Sendable]) {
    var (isNew, isChosen) = (eviction.isIdle, false)
    var left = tables.withLock { tables in
      eviction.takeDueSteps(
        tables.storedCount, nodeCount: tables.graph.nodes.count,
        hasDepartures: tables.collection.hasDepartures)
    }
    while left > 0, !isChosen { isChosen = prepareStep(&left) }
    evict(&released)
    while storedCount > eviction.limit.count, !(isNew && isChosen) {
      // None were chosen yet, or too few are left of them.
      if eviction.hasChosen {
        eviction.restart()
        isNew = true
      }
      isChosen = false
      left = .max
      while !isChosen { isChosen = prepareStep(&left) }
      evict(&released)
    }
    endGo()
  }

  /// Forgets what is prepared, because nodes change their numbers or another walk begins.
  func cancelEviction() {
    eviction.cancel()
    endKeeping()
  }

  private var storedCount: Int {
    tables.withLock { $0.storedCount }
  }

  /// Decides at what number of entities to go on.
  private func endGo() {
    let limit = eviction.limit
    let count = storedCount
    if count > limit.count || eviction.isDone(count) { cancelEviction() }
    tables.withLock { tables in
      tables.collection.isOverfull = count > limit.count
      tables.collection.threshold =
        count > limit.count
        ? count + max(64, count / 8) : limit.clamped(count + limit.stride)
    }
  }

  // MARK: Preparing

  /// Does a step of the preparation; returns whether it has finished a choice.
  ///
  /// - Parameter left: The number of steps, by a few hundred at a time.
  private func prepareStep(_ left: inout Int) -> Bool {
    left -= Commit.stepSize
    eviction.takeStep()
    switch eviction.stage {
    case .idle:
      eviction.beginFinding(nodeCount: beginKeeping())
    case .finding(before: 0):
      if tables.withLock({ $0.graph.follow(atMost: Commit.stepSize) }) { break }
      eviction.beginChoosing(nodeCount: tables.withLock { $0.graph.nodes.count })
    case .finding(let end):
      let start = max(0, end - Commit.stepSize)
      tables.withLock { $0.keepUsed(in: start..<end, since: .max) }
      eviction.stage = .finding(before: start)
    case .choosing(let start):
      offer(from: start)
    case .sorting:
      if eviction.choice.sort(atMost: Commit.stepSize) { break }
      eviction.endChoosing(nodeCount: tables.withLock { $0.graph.nodes.count })
      onStep?()
      return true
    }
    onStep?()
    return false
  }

  private func offer(from start: Int) {
    var candidates: [EvictionCandidate] = []
    candidates.reserveCapacity(Commit.stepSize)
    let end = tables.withLock { tables in
      let end = min(start + Commit.stepSize, tables.graph.nodes.count)
      if start < end { tables.addCandidates(in: start..<end, to: &candidates) }
      return end
    }
    for candidate in candidates { eviction.choice.offer(candidate) }
    eviction.stage = start < end ? .choosing(from: end) : .sorting
  }

  // MARK: Evicting

  /// Evicts entities if that is due, in the order of the present choice.
  private func evict(_ released: inout [any Sendable]) {
    let due = eviction.takeDueCount(storedCount)
    if due.upperBound == 0 { return }
    var (dropped, tries) = (0, EntityEviction.tryCount(for: due.upperBound))
    var used: [EvictionCandidate] = []
    while dropped < due.upperBound, tries > 0 || dropped + used.count < due.lowerBound {
      let former = eviction.queue.count
      dropped += drop(due.upperBound - dropped, &used, &released) { eviction.queue.next() }
      if eviction.queue.count == former { break }
      tries -= former - eviction.queue.count
    }
    used.sort { $0.use < $1.use }
    eviction.queue.putBack(used)
    // Those that were used since they were chosen go only if no other may.
    while dropped < due.lowerBound, !eviction.queue.isEmpty {
      var again: [EvictionCandidate] = []
      dropped += drop(due.lowerBound - dropped, &again, &released) { eviction.queue.nextUsed() }
      eviction.queue.putBack(again)
    }
    if tables.withLock({ $0.takeIsSparse() }) { shrink() }
  }
}

extension EntityCore {
  /// Drops unused entities among a few candidates; returns their number.
  ///
  /// - Parameters:
  ///   - count: The greatest number of entities to drop.
  ///   - used: Receives the candidates that were used since they were chosen.
  ///   - released: Collects objects to release after the turn.
  ///   - next: Returns the next candidate.
  private func drop(
    _ count: Int, _ used: inout [EvictionCandidate], _ released: inout [any Sendable],
    among next: () -> EvictionCandidate?
  ) -> Int {
    used.makeRoom(for: Commit.stepSize)
    return drop(&released) { tables in
      var (nodes, tries): ([NodeNumber], Int) = ([], 0)
      while nodes.count < min(count, Self.dropCount), tries < Commit.stepSize,
        let candidate = next()
      {
        tries += 1
        // A revision is never used again, so another entity in this place has another use.
        guard let use = tables.use(ofUnused: candidate.node) else { continue }
        if use == candidate.use {
          nodes.append(candidate.node)
        } else {
          used.append(EvictionCandidate(node: candidate.node, use: use))
        }
      }
      return nodes
    }
  }
}

extension EntityTables {
  /// Adds the stored entities in a range that are not known to be in use.
  fileprivate func addCandidates(
    in numbers: Range<Int>, to candidates: inout [EvictionCandidate]
  ) {
    for number in numbers {
      let node = NodeNumber(number)
      guard let use = use(ofUnused: node) else { continue }
      candidates.append(EvictionCandidate(node: node, use: use))
    }
  }

  /// Returns the last use of a stored entity that is not known to be in use; otherwise nil.
  fileprivate func use(ofUnused number: NodeNumber) -> EntityUse? {
    let node = graph.nodes[Int(number)]
    guard node.isStored, !graph.kept[Int(number)] else { return nil }
    return tables[Int(node.table)].use(node.row)
  }
}
