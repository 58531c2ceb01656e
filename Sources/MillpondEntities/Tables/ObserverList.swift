import MillpondSignals

/// The observers of an entity, in the order of their numbers.
///
/// - Complexity: O(1) amortised to add the latest, O(log *n*) to remove any.
@usableFromInline
struct ObserverList: Sendable {
  /// The observers; nil for those that have left.
  private var watches: ContiguousArray<(number: Int, watch: NodeObserver?)> = []
  private var count = 0

  var isEmpty: Bool {
    count == 0
  }

  /// Adds an observer with a greater number than all others.
  mutating func add(_ watch: NodeObserver, _ number: Int) {
    watches.append((number, watch))
    count += 1
  }

  mutating func remove(_ number: Int) -> NodeObserver? {
    let place = place(of: number)
    guard place < watches.count, watches[place].number == number else { return nil }
    guard let watch = watches[place].watch else { return nil }
    watches[place].watch = nil
    count -= 1
    if watches.count > 16, count < watches.count / 2 { watches.removeAll { $0.watch == nil } }
    return watch
  }

  func forEach(_ visit: (NodeObserver) -> Void) {
    for (_, watch) in watches {
      if let watch { visit(watch) }
    }
  }

  /// Returns the first place of a number, or of the next greater one.
  private func place(of number: Int) -> Int {
    partitionPoint(watches.count) { watches[$0].number < number }
  }
}

/// An observer of an entity.
///
/// A struct, because a closure in an optional or a tuple would be wrapped at each use.
@usableFromInline
@frozen
struct NodeObserver: Sendable {
  /// Makes the notice of a commit with these causes, from the present value in the row.
  @usableFromInline let notice: @Sendable (_ row: Int32, _ causes: [AnyReference]) -> Notice

  @inlinable
  init(_ notice: @escaping @Sendable (_ row: Int32, _ causes: [AnyReference]) -> Notice) {
    self.notice = notice
  }
}
