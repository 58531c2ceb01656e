/// What a manual clock has still to fire; the latest first, so that the next one is at the end.
struct ManualTimers: Sendable, CustomStringConvertible {
  struct Timer: Sendable {
    let deadline: ManualClock.Instant
    let number: Int
    let action: @Sendable () -> Void
  }

  var now = ManualClock.Instant(offset: .zero)
  var waiting: [Timer] = []
  private var lastNumber = 0

  var description: String {
    "\(waiting.count) pending at \(now.offset)"
  }

  mutating func add(
    _ deadline: ManualClock.Instant, _ action: @escaping @Sendable () -> Void
  ) -> Timer {
    lastNumber += 1
    let timer = Timer(deadline: deadline, number: lastNumber, action: action)
    waiting.insert(timer, at: place(of: timer))
    return timer
  }

  mutating func remove(_ timer: Timer) -> Timer? {
    let place = place(of: timer)
    guard place < waiting.count, waiting[place].number == timer.number else { return nil }
    return waiting.remove(at: place)
  }

  /// The next action whose time has come by `target`, or the next of all; the clock goes there.
  mutating func popDue(by target: ManualClock.Instant?) -> (@Sendable () -> Void)? {
    guard let next = waiting.last else { return nil }
    if let target, next.deadline > target { return nil }
    waiting.removeLast()
    reach(next.deadline)
    return next.action
  }

  mutating func reach(_ instant: ManualClock.Instant) {
    now = max(now, instant)
  }

  /// The first place whose timer is not later than `timer`.
  private func place(of timer: Timer) -> Int {
    var low = 0
    var high = waiting.count
    while low < high {
      let middle = (low + high) / 2
      if isLater(waiting[middle], timer) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func isLater(_ first: Timer, _ second: Timer) -> Bool {
    (first.deadline, first.number) > (second.deadline, second.number)
  }
}
