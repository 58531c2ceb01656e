public import MillpondSignals

/// The flights of a table in the order in which they began: a linked list that owns nothing, so
/// that adding and removing cost a few stores.
@usableFromInline
struct FlightList<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline typealias Run = Flight<Key, Value>.Run

  @usableFromInline typealias Link = Unmanaged<Run>

  @usableFromInline var newest: Optional<Link>

  /// The censuses under way, by number.
  @usableFromInline var censuses: [Int: Link] = [:]
  @usableFromInline var lastCensus = 0

  @inlinable
  init() {
    newest = nil
  }

  @inlinable
  mutating func append(_ link: Link) {
    link._withUnsafeGuaranteedRef { $0.variables.older = newest }
    newest?._withUnsafeGuaranteedRef { $0.variables.newer = link }
    newest = link
  }

  /// Removes a flight that is in the list.
  @inlinable
  mutating func remove(_ run: Run) {
    if !censuses.isEmpty { pass(run) }
    let (older, newer) = (run.variables.older, run.variables.newer)
    if let newer {
      newer._withUnsafeGuaranteedRef { $0.variables.older = older }
    } else {
      newest = older
    }
    older?._withUnsafeGuaranteedRef { $0.variables.newer = newer }
    run.variables.older = nil
    run.variables.newer = nil
  }

  /// Removes all flights, whose links to neighbours are invalid from then on; ends all censuses.
  @inlinable
  mutating func removeAll() {
    newest = nil
    censuses = [:]
  }

  // MARK: Censuses

  /// Begins a census of all flights, from the newest to the oldest, and returns its number.
  ///
  /// It advances a few flights at a time, so no caller waits for all of it. It sees no flight that
  /// begins meanwhile, and may see one that ends.
  mutating func beginCensus() -> Int {
    lastCensus += 1
    censuses[lastCensus] = newest
    return lastCensus
  }

  /// Returns the next flight of a census; nil at the end.
  mutating func advance(_ census: Int) -> Flight<Key, Value>? {
    guard let run = censuses[census]?.takeUnretainedValue() else { return nil }
    censuses[census] = run.variables.older
    return Flight(run)
  }

  /// Lets the censuses that would see a flight next, which is about to be removed, pass it.
  @usableFromInline
  mutating func pass(_ run: Run) {
    for (number, next) in censuses where next.toOpaque() == Link.passUnretained(run).toOpaque() {
      censuses[number] = run.variables.older
    }
  }
}
