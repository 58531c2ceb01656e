import MillpondSignals
import Synchronization

/// A value that a memory cache does not keep any more.
public struct Removal<Key: Sendable, Value: Sendable>: Sendable {
  /// Why.
  public enum Cause: Sendable, Hashable, CaseIterable {
    /// For room: others were worth more, or a limit was lowered.
    case evicted

    /// For its age.
    case expired

    /// By order.
    case removed

    /// For a new value of the same key.
    case replaced

    /// Because memory was short.
    case pressure
  }

  /// Of which key.
  public let key: Key

  /// The value.
  public let value: Value

  /// Why it went.
  public let cause: Cause

  @usableFromInline
  init(key: Key, value: Value, cause: Cause) {
    self.key = key
    self.value = value
    self.cause = cause
  }
}

/// What was dropped under a lock, to be told of and released after it: mostly one value, or none.
@usableFromInline
struct Removals<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline var first: Removal<Key, Value>?
  @usableFromInline var more: MoreRemovals<Key, Value>?

  @inlinable
  init() {}

  @inlinable
  mutating func append(_ removal: Removal<Key, Value>) {
    if first == nil { first = removal } else { addMore { $0.removals.append(removal) } }
  }

  /// Keys that the order of writes has forgotten.
  @inlinable
  mutating func append(_ forgotten: [[Key: Revision]]) {
    if !forgotten.isEmpty { addMore { $0.forgotten += forgotten } }
  }

  @usableFromInline
  mutating func addMore(_ add: (MoreRemovals<Key, Value>) -> Void) {
    let more = more ?? MoreRemovals()
    add(more)
    self.more = more
  }
}

/// The second and further values that one call drops: few calls do, so these are in an object.
///
/// Sendable because only the call uses it that drops.
@usableFromInline
final class MoreRemovals<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
  @usableFromInline var removals: ContiguousArray<Removal<Key, Value>> = []
  @usableFromInline var forgotten: [[Key: Revision]] = []
}

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
