/// How many things wait to be done, and whether who brings more is to wait too.
///
/// When it is full, nobody brings more until half of it is done: to wake for each place would cost
/// more than what is brought.
struct Backlog: Sendable {
  private var count = 0

  /// At how many who waits for room is woken.
  private var room: Int?

  /// One more.
  ///
  /// - Parameter limit: How many may wait.
  /// - Returns: Whether who brings it is to wait until there is room.
  mutating func enter(limit: Int) -> Bool {
    count += 1
    room = count > limit ? limit / 2 : nil
    return room != nil
  }

  /// One less.
  ///
  /// - Returns: Whether who waits for room is to be woken.
  mutating func leave() -> Bool {
    count -= 1
    guard let room, count <= room else { return false }
    self.room = nil
    return true
  }

  /// Who waits for room has waited for long enough.
  ///
  /// - Returns: False if that one has been woken meanwhile.
  mutating func giveUp() -> Bool {
    defer { room = nil }
    return room != nil
  }
}
