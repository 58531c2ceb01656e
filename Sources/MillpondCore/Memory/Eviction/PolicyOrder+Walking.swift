extension PolicyOrder {
  /// Calls `body` with all entries, in the order of eviction as far as there is one.
  @usableFromInline
  package func forEach(_ body: (Slot) -> Void) {
    for list in [probation, protected, window] { nodes.forEach(in: list, body) }
  }
}
