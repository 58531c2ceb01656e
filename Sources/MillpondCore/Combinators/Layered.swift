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
public struct Layered<Upper: Cache, Lower: Source>: Cache, StampedSource
where Upper.Key == Lower.Key, Upper.Value == Lower.Value {
  /// What is asked for.
  public typealias Key = Upper.Key

  /// What is answered.
  public typealias Value = Upper.Value

  @usableFromInline let upper: Upper
  @usableFromInline let below: LayerBelow<Lower>

  @inlinable
  init(upper: Upper, lower: Lower) {
    self.upper = upper
    below = LayerBelow(lower)
  }

  @inlinable var lower: Lower { below.layer }

  /// The upper layer's answer, or else the lower one's.
  @inlinable
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    Signal { observer, lifetime in
      LayeredGet(upper, below, key, lookup, observer, lifetime).start()
    }
  }

  /// What the upper layer has at once.
  ///
  /// The lower one is not tried, since its value is to be stored above, unless nothing is kept there.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    if Upper.self == EmptyCache<Key, Value>.self {
      return lower.isBeside(lookup.freshness) ? nil : lower.now(key, lookup)
    }
    return upper.now(key, lookup)
  }

  /// Tells the lower layer, then the upper one.
  ///
  /// A layer that can't keep what is set is told to remove the key, so that an older value does not
  /// come to light again, and the outcome fails with ``CacheError/partlyStored(layer:underlying:)``.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    switch change {
    case .set(let key, _, let revision):
      let below = Outcome.orRemoved(key, revision, in: lower, upper, lower.apply(change))
      let above = Outcome.orRemoved(key, revision, in: upper, lower, upper.apply(change))
      return Outcome.both(below, above)
    case .remove, .removeAll:
      let below = lower.apply(change)
      return Outcome.both(below, upper.apply(change))
    case .fill:
      let below = lower.apply(change)
      return Outcome.any(below, upper.apply(change))
    }
  }

  /// Both layers.
  public func layout(for key: Key?) -> Layout {
    Layout(.layers, "layered", of: upper.layout(for: key), lower.layout(for: key))
  }
}

extension AnyCache {
  /// Layers any number of caches: the first is asked first, and so on, as by ``Cache/layered(over:)``.
  ///
  /// Of none: a cache of nothing. A source that can only be asked may come last.
  ///
  /// - Complexity: O(*n*) once; a miss passes through all of them.
  public init(layering layers: some Sequence<AnyCache>) {
    let fromBelow = layers.reversed()
    let lowest = fromBelow.first ?? AnyCache(EmptyCache())
    self = fromBelow.dropFirst().reduce(lowest) { AnyCache($1.layered(over: $0)) }
  }
}
