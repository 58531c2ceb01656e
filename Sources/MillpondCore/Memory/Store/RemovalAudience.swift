import MillpondSignals
import Synchronization

/// Those who want to know what goes.
@usableFromInline
final class RemovalAudience<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private let pipe = PublishSubject<Removal<Key, Value>>()
  private let listeners = ListenerCount()

  @usableFromInline
  init() {}

  deinit {
    pipe.completed()
  }

  @usableFromInline var isListening: Bool { listeners.count.load(ordering: .relaxed) > 0 }

  /// Keeps nothing of the cache alive.
  var signal: Signal<Removal<Key, Value>> {
    let (listeners, removals) = (listeners, pipe.signal)
    return Signal { observer, lifetime in
      listeners.count.add(1, ordering: .relaxed)
      lifetime.onEnd { listeners.count.subtract(1, ordering: .relaxed) }
      removals.run(observer, lifetime)
    }
  }

  @usableFromInline
  func tell(_ removals: Removals<Key, Value>) {
    if let first = removals.first { pipe.next(first) }
    for other in removals.more?.removals ?? [] { pipe.next(other) }
  }
}

private final class ListenerCount: Sendable {
  let count = Atomic<Int>(0)
}
