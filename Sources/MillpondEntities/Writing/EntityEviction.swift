/// The preparation of evictions: the choice of the entities that are evicted next.
///
/// A walk finds the entities in use. Then the least recently used of the others are chosen and
/// sorted, again and again, since some are used meanwhile. All of that is done a few steps at a
/// time while the store fills up, so that the write that exceeds the limit finds them ready.
struct EntityEviction: Sendable {
  enum Stage: Sendable {
    case idle

    /// Entities in use are looked for: first among the nodes before a place, then below them.
    case finding(before: Int)

    /// Candidates are looked for among the nodes from a place on, and then sorted.
    case choosing(from: Int)
    case sorting
  }

  let limit: EvictionLimit
  var stage = Stage.idle

  /// The present choice, and the next one.
  var queue = EvictionQueue()
  var choice = LeastRecentlyUsed(atMost: 0)

  /// Whether a choice was made since the entities in use were looked for, and whether there were
  /// few candidates.
  private(set) var hasChosen = false
  private var isPoor = false

  /// The number of steps that remain until the next choice, roughly.
  private var left = 0

  /// Whether the limit was exceeded, so that entities are evicted until there is some room.
  private(set) var isEvicting = false

  /// The number of stored entities at the last go.
  private var storedCount = 0

  init(_ limit: EvictionLimit) {
    self.limit = limit
  }

  /// Returns the number of steps of the preparation that are due, and records the present count.
  ///
  /// They are so many that entities are chosen when half of the space that was left is taken; and
  /// chosen anew when there are as many new entities as are evicted at the limit.
  ///
  /// - Parameters:
  ///   - storedCount: The number of stored entities.
  ///   - nodeCount: The number of nodes.
  ///   - hasDepartures: Whether there may be more candidates now than when they were chosen.
  mutating func takeDueSteps(
    _ storedCount: Int, nodeCount: Int, hasDepartures: Bool
  ) -> Int {
    let growth = max(1, limit.stride, storedCount - self.storedCount)
    self.storedCount = storedCount
    if hasChosen, isPoor, hasDepartures { restart() }
    if isIdle {
      left = 3 * nodeCount + limit.spare
    } else if isEvicting, queue.hasNext {
      return 0
    }
    let space = hasChosen ? limit.spare : max(limit.count - storedCount, limit.spare / 8) / 2
    return growth * (max(0, left) / max(1, space) + 1)
  }

  /// Records the present count, and returns the numbers of entities that must and may be evicted.
  mutating func takeDueCount(_ storedCount: Int) -> ClosedRange<Int> {
    self.storedCount = storedCount
    let excess = max(0, storedCount - limit.count)
    if excess > 0 { isEvicting = true }
    let surplus = max(0, storedCount - limit.count + limit.spare)
    return isEvicting ? excess...min(excess + limit.batch, surplus) : 0...0
  }

  mutating func beginFinding(nodeCount: Int) {
    queue = EvictionQueue()
    hasChosen = false
    stage = .finding(before: nodeCount)
  }

  mutating func beginChoosing(nodeCount: Int) {
    left = nodeCount + limit.spare
    choice = LeastRecentlyUsed(atMost: limit.spare + max(0, storedCount - limit.count))
    stage = .choosing(from: 0)
  }

  /// Replaces the present choice by the next one, and begins another.
  mutating func endChoosing(nodeCount: Int) {
    queue = EvictionQueue(choice.sorted)
    (hasChosen, isPoor) = (true, queue.count < limit.spare / 2)
    beginChoosing(nodeCount: nodeCount)
  }

  /// Lets the entities in use be looked for anew.
  mutating func restart() {
    stage = .idle
  }

  /// Records a step of the preparation.
  mutating func takeStep() {
    left -= Commit.stepSize
  }

  var isIdle: Bool {
    if case .idle = stage { true } else { false }
  }

  /// Whether there is space enough, or no candidate any more, so that everything begins anew.
  func isDone(_ storedCount: Int) -> Bool {
    isEvicting && (storedCount <= limit.count - limit.spare || queue.isEmpty)
  }

  /// Forgets all choices.
  mutating func cancel() {
    (stage, hasChosen, isEvicting) = (.idle, false, false)
    (queue, choice) = (EvictionQueue(), LeastRecentlyUsed(atMost: 0))
  }

  /// The greatest number of candidates to try in a go, unless too few of them are unused.
  static func tryCount(for count: Int) -> Int {
    max(4 * Commit.stepSize, 4 * count)
  }
}
