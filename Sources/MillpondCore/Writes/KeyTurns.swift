package import MillpondSignals

/// The turns of work that reads before it writes: that of one key is done piece after piece, in the
/// order in which the pieces came.
package final class KeyTurns<Key: Hashable & Sendable>: Sendable {
  /// The work that waits for the piece of its key that is under way.
  private let waiting = Locked<[Key: Queue<Work>]>([:])

  /// A piece of work; it calls its argument when it is done.
  private typealias Work = @Sendable (_ done: @escaping @Sendable () -> Void) -> Void

  package init() {}

  /// Returns a signal that runs another one in its turn, to its end, whether or not its subscriber
  /// stays.
  package func inTurn<Value>(_ key: Key, _ work: Signal<Value>) -> Signal<Value> {
    Signal { observer, lifetime in
      self.enter(key) { done in
        _ = work.subscribe { event in
          if event.isTerminal { done() }
          if !lifetime.isEnded { observer.send(event) }
        }
      }
    }
  }

  private func enter(_ key: Key, _ work: @escaping Work) {
    let waits = waiting.withLock { waiting in
      if waiting[key] == nil {
        waiting[key] = Queue()
        return false
      }
      waiting[key]?.append(work)
      return true
    }
    if !waits { run(work, key) }
  }

  /// Does a piece of work, and those that follow it at once: in a loop, so that any number may wait.
  private func run(_ first: @escaping Work, _ key: Key) {
    var next: Work? = first
    while let work = next {
      // The return and the end of the work, the later of which goes on.
      let isReached = Locked(false)
      let isSecond = { @Sendable in isReached.withLock { exchange(&$0, with: true) } }
      work {
        if isSecond(), let following = self.next(key) { self.run(following, key) }
      }
      next = isSecond() ? self.next(key) : nil
    }
  }

  private func next(_ key: Key) -> Work? {
    waiting.withLock { waiting in
      let next = waiting[key]?.popFirst()
      if next == nil { waiting[key] = nil }
      return next
    }
  }
}
