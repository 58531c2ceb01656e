/// How many things wait to be done, and whether who brings more is to wait too.
///
/// When it is full, nobody brings more until half of it is done: to wake for each place would cost
/// more than what is brought.
struct Backlog: Sendable {
  private let limit: Int
  private var count = 0
  private var isAwaited = false

  /// - Parameter limit: How many may wait.
  init(limit: Int) {
    self.limit = limit
  }

  /// One more.
  ///
  /// - Returns: Whether who brings it is to wait until there is room.
  mutating func enter() -> Bool {
    count += 1
    isAwaited = count > limit
    return isAwaited
  }

  /// One less.
  ///
  /// - Returns: Whether who waits for room is to be woken.
  mutating func leave() -> Bool {
    count -= 1
    guard isAwaited, count <= limit / 2 else { return false }
    isAwaited = false
    return true
  }

  /// Who waits for room has waited for long enough.
  ///
  /// - Returns: False if that one has been woken meanwhile.
  mutating func giveUp() -> Bool {
    defer { isAwaited = false }
    return isAwaited
  }
}
