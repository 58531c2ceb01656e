import MillpondSignals

extension Locked<DiskState> {
  /// Calls `body` with the entries that have records, without the lock, in the order of eviction.
  func forEachEntry(_ body: (LocationWalk.Entry) -> Void) {
    var walk = LocationWalk()
    var entries: ContiguousArray<LocationWalk.Entry> = []
    entries.reserveCapacity(LocationWalk.stepSize)
    var goesOn = true
    while goesOn {
      goesOn = withLock { state in walk.step(&state.index) { entries.append($0) } }
      entries.forEach(body)
      entries.removeAll(keepingCapacity: true)
    }
  }
}
