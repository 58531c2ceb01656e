public import MillpondSignals
import Synchronization

/// A value that a memory cache no longer stores.
public struct Removal<Key: Sendable, Value: Sendable>: Sendable {
  /// The causes of a removal.
  public enum Cause: Sendable, Hashable, CaseIterable {
    /// The value was evicted for other values, or because a limit was lowered.
    case evicted

    /// The value expired.
    case expired

    /// The value was removed by a call.
    case removed

    /// A new value of the same key replaced it.
    case replaced

    /// The value was removed because memory was short.
    case pressure
  }

  /// The key of the value.
  public let key: Key

  /// The value.
  public let value: Value

  /// The cause of the removal.
  public let cause: Cause

  @usableFromInline
  init(key: Key, value: Value, cause: Cause) {
    self.key = key
    self.value = value
    self.cause = cause
  }
}

/// The removals under a lock, to be reported and released after it: usually one or none.
@usableFromInline
@frozen
struct Removals<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline var first: Removal<Key, Value>?
  @usableFromInline var more: SerialState<MoreRemovals<Key, Value>>?

  @inlinable
  init() {}

  @inlinable
  mutating func append(_ removal: Removal<Key, Value>) {
    if first == nil { first = removal } else { addMore { $0.removals.append(removal) } }
  }

  /// Adds keys that the order of writes has forgotten.
  @inlinable
  mutating func append(_ forgotten: [[Key: Revision]]) {
    if !forgotten.isEmpty { addMore { $0.forgotten += forgotten } }
  }

  @usableFromInline
  mutating func addMore(_ add: (inout MoreRemovals<Key, Value>) -> Void) {
    let more = more ?? SerialState(MoreRemovals())
    add(&more.value)
    self.more = more
  }
}

/// The second and later removals of one call; few calls have any, so they are in an object, which
/// only that call uses.
@usableFromInline
struct MoreRemovals<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline var removals: ContiguousArray<Removal<Key, Value>> = []
  @usableFromInline var forgotten: [[Key: Revision]] = []
}

/// The subscribers to the removals of a cache.
@usableFromInline
final class RemovalListeners<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private let subject = PublishSubject<Removal<Key, Value>>()
  private let count = AtomicValue<Int>(0)

  @usableFromInline
  init() {}

  @usableFromInline var isListening: Bool { count.load(ordering: .relaxed) > 0 }

  /// The removals; a subscription keeps this object alive, but not the cache.
  var signal: Signal<Removal<Key, Value>> {
    Signal { [self] observer, lifetime in
      count.add(1, ordering: .relaxed)
      lifetime.onEnd { [self] in count.subtract(1, ordering: .relaxed) }
      subject.signal.run(observer, lifetime)
    }
  }

  @usableFromInline
  func send(_ removals: Removals<Key, Value>) {
    if let first = removals.first { subject.next(first) }
    for other in removals.more?.value.removals ?? [] { subject.next(other) }
  }

  /// Completes the signal; for the release of the cache.
  func end() {
    subject.completed()
  }
}
