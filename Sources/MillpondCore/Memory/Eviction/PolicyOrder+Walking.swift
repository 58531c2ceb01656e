extension PolicyOrder {
  /// Calls `body` with all entries, in the order of eviction as far as there is one.
  @usableFromInline
  package func forEach(_ body: (Slot) -> Void) {
    for list in [probation, protected, window] { nodes.forEach(in: list, body) }
  }

  /// Returns the entry after `slot` in the order of ``forEach(_:)``, or the first one; nil at the
  /// end.
  ///
  /// For walks in steps: for a slot that has moved meanwhile, returns the entry after its new
  /// position.
  package func next(after slot: Slot?) -> Slot? {
    var state: UInt8?
    if let slot {
      let newer = nodes.newer(than: slot)
      if newer >= 0 { return newer }
      state = states[slot] & Self.list
    }
    if state == nil, probation.oldest >= 0 { return probation.oldest }
    if state == nil || state == Self.inProbation, protected.oldest >= 0 { return protected.oldest }
    return state == Self.inWindow || window.oldest < 0 ? nil : window.oldest
  }
}
