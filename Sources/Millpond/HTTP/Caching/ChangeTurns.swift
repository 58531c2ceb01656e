import MillpondSignals

/// The turns of changes that read before they write: those of one key are made one after another, in
/// the order in which they came.
final class ChangeTurns: Sendable {
  /// The changes that wait for the one of their key that is under way.
  private let waiting = Locked<[String: Queue<Change>]>([:])

  /// A change; it calls its argument when it is made.
  private typealias Change = @Sendable (_ made: @escaping @Sendable () -> Void) -> Void

  /// Returns a signal that makes a change in its turn, whether or not its subscriber stays.
  func inTurn(_ key: String, _ change: Signal<Void>) -> Signal<Void> {
    Signal { observer, lifetime in
      self.enter(key) { made in
        _ = change.subscribe { event in
          if event.isTerminal { made() }
          if !lifetime.isEnded { observer.send(event) }
        }
      }
    }
  }

  private func enter(_ key: String, _ change: @escaping Change) {
    let waits = waiting.withLock { waiting in
      if waiting[key] == nil {
        waiting[key] = Queue()
        return false
      }
      waiting[key]?.append(change)
      return true
    }
    if !waits { make(change, key) }
  }

  /// Makes a change, and those that follow it at once: in a loop, so that any number may wait.
  private func make(_ first: @escaping Change, _ key: String) {
    var next: Change? = first
    while let change = next {
      // The return and the end of the change, the later of which goes on.
      let isReached = Locked(false)
      let isSecond = { @Sendable in isReached.withLock { exchange(&$0, with: true) } }
      change {
        if isSecond(), let following = self.next(key) { self.make(following, key) }
      }
      next = isSecond() ? self.next(key) : nil
    }
  }

  private func next(_ key: String) -> Change? {
    waiting.withLock { waiting in
      let next = waiting[key]?.popFirst()
      if next == nil { waiting[key] = nil }
      return next
    }
  }
}
