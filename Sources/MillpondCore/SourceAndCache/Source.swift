public import MillpondSignals

/// A source of values by key: a cache, a network, a computation.
///
/// To write a source of your own, implement ``get(_:_:)``, or, if it knows the ages of its values,
/// how long they may be stored, or why it has none, ``answers(_:_:)`` as an ``AnsweringSource``.
/// Everything else has a default.
public protocol Source<Key, Value>: Sendable {
  /// The type of keys.
  ///
  /// Caches hash and compare keys under their locks, as they would in a dictionary of their own, so
  /// `hash(into:)` and `==` must not get or write anything. Keys are released outside the locks. A
  /// key that is a mutable object must not change while a cache has it: as in any dictionary, the
  /// process stops when two keys of one become equal.
  associatedtype Key: Hashable & Sendable

  /// The type of values.
  associatedtype Value: Sendable

  /// Returns the answer: a hit sends one value or more and completes, a miss completes empty, and
  /// only a real error fails.
  ///
  /// No work begins before a subscription; each subscription begins anew.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - lookup: The terms of the get, to be passed on to the sources below.
  func get(_ key: Key, _ lookup: Lookup) -> Signal<Value>

  /// Returns the same answer with all that is known of it: the ages of values, or why there is none.
  ///
  /// This is what the framework asks. By default each value of ``get(_:_:)`` counts as new.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - lookup: The terms of the get, to be passed on to the sources below.
  func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>>

  /// Returns the answer if it is a single value and available immediately, by the terms of
  /// `lookup`.
  ///
  /// Nil by default. Callers try this first, since it needs no subscription. A value counts as a
  /// hit in statistics and for eviction. Nil is not counted: the run that follows counts the miss.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - lookup: The terms of the get.
  func now(_ key: Key, _ lookup: Lookup) -> Value?

  /// Applies a change at once: gets made after this returns see it.
  ///
  /// By default a write succeeds and stores nothing, as suits an origin, and a fill is refused.
  ///
  /// - Returns: The outcome, replayed. Disposing of it cancels nothing. A write sends a value when
  ///   it has been carried out, also if a later write has overtaken it. A fill sends a value when
  ///   it is admitted, immediately if that is known immediately, and completes or fails when it is
  ///   stored; a fill that is refused, or for which there is no room, completes empty.
  func apply(_ change: Change<Key, Value>) -> Signal<Void>

  /// Describes the composition; with a key, also what is known of that key without a get.
  ///
  /// By default a single part with the name of its type. A wrapper includes the topology of its
  /// base.
  func topology(for key: Key?) -> Topology
}

extension Source {
  /// Returns the answer, with each value counted as new.
  @inlinable
  public func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    get(key, lookup).map { .value(Stamped($0)) }
  }

  /// Returns nil: no answer is immediate.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    nil
  }

  /// Succeeds without storing a write; refuses a fill.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    change.ignored
  }

  /// A single part with the name of its type.
  public func topology(for key: Key?) -> Topology {
    Topology(isCache ? .store : .origin, Topology.title(of: Self.self))
  }
}

extension Source {
  /// The name of this source as a layer, in events and errors.
  @usableFromInline
  var layerLabel: String {
    topology(for: nil).label
  }
}

extension Change {
  /// The outcome where nothing is stored: a write succeeds, and a fill is refused.
  @inlinable
  package var ignored: Signal<Void> {
    isFill ? .empty : .just(())
  }
}

extension Source {
  /// Returns the values of the answer with their ages.
  package func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    answers(key, lookup).stampedValues()
  }
}

/// A source that knows more of its answers than their values, and implements only
/// ``Source/answers(_:_:)``.
public protocol AnsweringSource<Key, Value>: Source {}

extension AnsweringSource {
  /// Returns the values of the answer.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - lookup: The terms of the get.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    answers(key, lookup).values()
  }
}
