/// What has become of a session's task; decides what may still be done with it.
struct SessionPhase: Sendable {
  private(set) var hasHead = false
  private var isEnded = false
  private var isCancelled = false
  private var isAnswering = false

  /// Whether anybody wants to hear of it.
  var isActive: Bool { !isEnded && !isCancelled }

  /// Whether the head may be passed on.
  mutating func beginHead() -> Bool {
    hasHead = true
    return isActive
  }

  /// Whether the task is to be cancelled now, for the only time.
  mutating func cancel() -> Bool {
    guard isActive else { return false }
    isCancelled = true
    return !isAnswering
  }

  /// Whether a redirect is to be answered.
  mutating func beginAnswer() -> Bool {
    isAnswering = isActive
    return isAnswering
  }

  /// Whether the task is to be cancelled now, since that was wanted meanwhile.
  mutating func endAnswer() -> Bool {
    isAnswering = false
    return isCancelled && !isEnded
  }

  /// Whether the end is still to be told.
  mutating func end() -> Bool {
    defer { isEnded = true }
    return isActive
  }
}
