/// The runs of an owner in the order in which they were added: a linked list that owns nothing, so
/// that adding and removing cost a few stores.
///
/// Pure; its owner locks, and keeps the runs alive while they are in the list.
@usableFromInline
package struct RunList<
  Value: Sendable, Constants: Sendable & ~Copyable, Variables: Sendable & ~Copyable
>: Sendable {
  @usableFromInline package typealias Run = OwnedRun<Value, Constants, Variables>

  @usableFromInline var newest: Optional<Unmanaged<Run>>

  /// The run that each census under way sees next, by the number of the census.
  @usableFromInline var censuses: [Int: Unmanaged<Run>]
  @usableFromInline var lastCensus: Int

  @inlinable
  package init() {
    newest = nil
    censuses = [:]
    lastCensus = 0
  }

  @inlinable
  package mutating func append(_ run: Run) {
    let link = Unmanaged.passUnretained(run)
    run.older = newest
    newest?._withUnsafeGuaranteedRef { $0.newer = link }
    newest = link
  }

  /// Removes a run that is in the list.
  @inlinable
  package mutating func remove(_ run: Run) {
    if !censuses.isEmpty { pass(run) }
    let (older, newer) = (run.older, run.newer)
    if let newer {
      newer._withUnsafeGuaranteedRef { $0.older = older }
    } else {
      newest = older
    }
    older?._withUnsafeGuaranteedRef { $0.newer = newer }
    (run.older, run.newer) = (nil, nil)
  }

  /// Removes all runs, whose links to neighbours are invalid from then on; ends all censuses.
  @inlinable
  package mutating func removeAll() {
    newest = nil
    censuses = [:]
  }

  // MARK: Censuses

  /// Begins a census of all runs, from the newest to the oldest, and returns its number.
  ///
  /// It advances a few runs at a time, so no caller waits for all of it. It sees no run that is
  /// added meanwhile.
  package mutating func beginCensus() -> Int {
    lastCensus += 1
    censuses[lastCensus] = newest
    return lastCensus
  }

  /// Returns the next run of a census; nil at the end.
  package mutating func advance(_ census: Int) -> Run? {
    guard let run = censuses[census]?.takeUnretainedValue() else { return nil }
    censuses[census] = run.older
    return run
  }

  /// Lets the censuses that would see a run next, which is about to be removed, pass it.
  @usableFromInline
  mutating func pass(_ run: Run) {
    for (census, next) in censuses where next.toOpaque() == Unmanaged.passUnretained(run).toOpaque()
    {
      censuses[census] = run.older
    }
  }
}
