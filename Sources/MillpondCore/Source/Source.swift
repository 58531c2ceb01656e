public import MillpondSignals

/// What can be asked: a cache, a network, a computation.
///
/// Whoever writes a source implements ``get(_:_:)``, or, if it knows the age of its values, ``getStamped(_:_:)``
/// as a ``StampedSource``; the rest has defaults.
public protocol Source<Key, Value>: Sendable {
  /// What is asked for.
  associatedtype Key: Hashable & Sendable

  /// What is answered.
  associatedtype Value: Sendable

  /// The answer: a hit sends its value, or several, and completes; a miss completes empty; only
  /// trouble fails.
  ///
  /// Nothing is asked until the signal is subscribed to, and then each time anew.
  func get(_ key: Key, _ lookup: Lookup) -> Signal<Value>

  /// The same answer, with what is known of the values' age.
  ///
  /// By default a value of ``get(_:_:)`` is taken as new.
  func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>>

  /// The answer, if it is a single value and there at once. It obeys `lookup` as a get does.
  ///
  /// Nil by default. Callers try this first, since it costs no subscription. A value counts as a hit
  /// in statistics and for eviction. Nil counts as nothing: the run that follows counts the miss.
  func now(_ key: Key, _ lookup: Lookup) -> Value?

  /// Takes a change in, at once: gets that are asked after this has returned see it.
  ///
  /// By default a write succeeds and keeps nothing, as befits what can only be asked, and a fill is
  /// refused.
  ///
  /// - Returns: The outcome, replayed. Disposing of it cancels nothing. A write sends a value when it
  ///   has been carried out, also if a later one has overtaken it. A fill sends a value when it has
  ///   been admitted, at once where that is known at once, and completes or fails when it is stored;
  ///   one that is refused, or for which there is no room, completes empty.
  func apply(_ change: Change<Key, Value>) -> Signal<Void>

  /// What this is made of, and, with a key, what it can tell of that without asking anyone.
  ///
  /// By default it is one part, named after its type. A wrapper gives the layout of what it wraps as
  /// a part of its own.
  func layout(for key: Key?) -> Layout
}

extension Source {
  /// Takes each value as new.
  @inlinable
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    get(key, lookup).map { Stamped($0) }
  }

  /// Nothing is there at once.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    nil
  }

  /// A write succeeds and keeps nothing; a fill is refused.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    change.isFill ? .empty : .just(())
  }

  /// One part, named after its type.
  public func layout(for key: Key?) -> Layout {
    Layout(isCache ? .store : .origin, Layout.title(of: Self.self))
  }
}

/// A source that knows the age of its values: it implements ``Source/getStamped(_:_:)`` alone.
public protocol StampedSource<Key, Value>: Source {}

extension StampedSource {
  /// The same answer, without what is known of the values' age.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    getStamped(key, lookup).map { $0.value }
  }
}
