/// The last writes of keys without an entry, in generations that are forgotten as a whole.
///
/// So no change takes longer than one generation, however many writes are remembered.
@usableFromInline
@frozen
struct RememberedWrites<Key: Hashable & Sendable>: Sendable {
  @usableFromInline
  @frozen
  struct Generation: Sendable {
    @usableFromInline var writes: [Key: Revision] = [:]

    /// The latest revision of the writes.
    @usableFromInline var newest = Revision.none

    @inlinable
    init() {}
  }

  /// The generation that is being filled.
  @usableFromInline var latest = Generation()

  /// The full generations, oldest first.
  @usableFromInline var older: ContiguousArray<Generation> = []

  @inlinable
  init() {}

  /// Whether a new generation is due.
  @inlinable
  var isFull: Bool {
    latest.writes.count >= Self.generationCount
  }

  /// Returns the last write of a key; none if it is not remembered.
  @inlinable
  func last(of key: Key) -> Revision {
    var last = latest.writes.isEmpty ? .none : latest.writes[key] ?? .none
    for generation in older { last = max(last, generation.writes[key] ?? .none) }
    return last
  }

  @inlinable
  mutating func add(_ key: Key, _ revision: Revision) {
    latest.newest = max(latest.newest, revision)
    let present = latest.writes.updateValue(revision, forKey: key)
    if let present, present > revision { latest.writes[key] = present }
  }

  /// Replaces the write of a key that has this revision.
  mutating func replace(_ key: Key, _ revision: Revision, by former: Revision) {
    if latest.writes[key] == revision { latest.writes[key] = former }
    for place in older.indices where older[place].writes[key] == revision {
      older[place].writes[key] = former
    }
  }

  /// Begins a new generation if that is due, and forgets old ones: those without writes after
  /// `oldest`, or the oldest of too many; at most two, and never the last full one.
  ///
  /// - Returns: The forgotten writes.
  @inlinable
  mutating func prune(before oldest: Revision) -> [[Key: Revision]] {
    if isFull {
      older.append(latest)
      latest = Generation()
      latest.writes.reserveCapacity(Self.generationCount)
    }
    var forgotten: [[Key: Revision]] = []
    while forgotten.count < 2, older.count > 1,
      older[0].newest <= oldest || older.count > Self.greatestCount
    {
      forgotten.append(older.removeFirst().writes)
    }
    return forgotten
  }

  /// Forgets the generations without writes after `revision`, and returns their writes.
  @inlinable
  mutating func forget(upTo revision: Revision) -> [[Key: Revision]] {
    var forgotten: [[Key: Revision]] = []
    if latest.newest <= revision, !latest.writes.isEmpty {
      forgotten.append(latest.writes)
      latest = Generation()
    }
    forgotten += older.lazy.filter { $0.newest <= revision }.map(\.writes)
    older.removeAll { $0.newest <= revision }
    return forgotten
  }

  /// The number of writes in a full generation.
  @inlinable static var generationCount: Int { 1_024 }

  /// The greatest number of full generations.
  @inlinable static var greatestCount: Int { 255 }
}
