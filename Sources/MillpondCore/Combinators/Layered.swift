public import MillpondSignals

extension Cache {
  /// Asks this first and `lower` on a miss, and stores here what `lower` gave.
  ///
  /// The first value wins; with none, the last failure; with none, it is a miss. A failure here
  /// hides nothing below. Tellings go to the lower layer first, and are visible in both when the
  /// call returns. What is stored on the way up never overwrites what was told meanwhile, and is not
  /// waited for. Layering is associative, and ``EmptyCache`` its identity.
  ///
  /// - Parameter lower: A cache, or a source that can only be asked.
  @inlinable
  public func layered<Lower: Source<Key, Value>>(over lower: Lower) -> Layered<Self, Lower> {
    Layered(upper: self, lower: lower)
  }
}

/// Two layers, one over the other, as one cache.
public struct Layered<Upper: Cache, Lower: Source>: Cache
where Upper.Key == Lower.Key, Upper.Value == Lower.Value {
  /// What is asked for.
  public typealias Key = Upper.Key

  /// What is answered.
  public typealias Value = Upper.Value

  @usableFromInline let upper: Upper
  @usableFromInline let lower: Lower

  @inlinable
  init(upper: Upper, lower: Lower) {
    self.upper = upper
    self.lower = lower
  }

  /// The upper layer's answer, or else the lower one's.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    getStamped(key, lookup).map { $0.value }
  }

  /// The upper layer's answer, or else the lower one's.
  @inlinable
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    .deferred {
      // Before the upper layer misses: what is told between the miss and the fill has to win.
      let mark = upper.mark(for: key)
      return upper.getStamped(key, lookup).ifNoValue { failure in
        fromBelow(key, lookup, mark, failure)
      }
    }
  }

  /// What the upper layer has at once.
  ///
  /// The lower one is not tried: its value is to be stored above.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    upper.now(key, lookup)
  }

  @inlinable
  func fromBelow(
    _ key: Key, _ lookup: Lookup, _ mark: Mark, _ failure: (any Error)?
  ) -> Signal<Stamped<Value>> {
    let values = lower.getStamped(key, lookup).onNext { stamped in
      _ = upper.apply(.fill(key, stamped, mark))
    }
    return failure.map { failure in values.ifEmpty { .fail(failure) } } ?? values
  }

  /// Tells the lower layer, then the upper one.
  ///
  /// Where one of them can't keep what it is told, it is told to remove the key, so that an older
  /// value does not come to light again; the outcome fails.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    if case .fill(let key, let stamped, let mark) = change {
      let below = lower.apply(.fill(key, stamped, mark.lower))
      return Outcome.both(below, upper.apply(.fill(key, stamped, mark.upper)))
    }
    let below = Outcome.removing(in: lower, unlessDone: lower.apply(change), change)
    let above = Outcome.removing(in: upper, unlessDone: upper.apply(change), change)
    return Outcome.both(below, above)
  }

  /// The marks of both layers.
  @inlinable
  public func mark(for key: Key) -> Mark {
    .pair(upper.mark(for: key), lower.mark(for: key))
  }
}

/// How tellings to several layers end.
@usableFromInline
enum Outcome {
  /// Succeeds when both have; fails with the first failure.
  @inlinable
  static func both(_ first: Signal<Void>, _ second: Signal<Void>) -> Signal<Void> {
    if first.isDone { return second }
    if second.isDone { return first }
    return first.ignoringValues(then: second).started()
  }

  /// The outcome of `change`; if a `set` fails, the key is removed.
  @inlinable
  static func removing<Layer: Source>(
    in layer: Layer, unlessDone outcome: Signal<Void>, _ change: Change<Layer.Key, Layer.Value>
  ) -> Signal<Void> {
    guard case .set(let key, _, let revision) = change, !outcome.isDone else { return outcome }
    return outcome.recover { error in
      layer.apply(.remove(key, revision)).ignoringValues(then: .fail(error)).recover { _ in
        .fail(error)
      }
    }.started()
  }
}

extension Signal<Void> {
  /// Whether it has succeeded already.
  @inlinable
  var isDone: Bool {
    now?() != nil
  }

  /// Waits for this, and goes on with `next`; a failure ends it.
  @inlinable
  func ignoringValues(then next: Signal<Void>) -> Signal<Void> {
    filter { false }.ifEmpty { next }
  }
}
