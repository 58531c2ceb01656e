public import MillpondSignals

extension Cache {
  /// Asks this cache first and `lower` on a miss or failure, and stores here what `lower` answers.
  ///
  /// If neither has a value, the get fails with the last failure, or is a miss if there was none.
  /// Writes go to the lower layer first, and are visible in both when the call returns. A fill
  /// never overwrites a write made after the get began, and the answer does not wait for it.
  ///
  /// A value of this cache that is too old, or whose time to live is over, is not fetched anew if
  /// it has a validator: `lower` is asked whether it is still current (``Lookup/known``), and if it
  /// is, it is the answer, and counts as new here. For a reload every stored value is too old.
  ///
  /// Layering is associative; ``EmptyCache`` is its identity. Carlos calls this `compose`. A
  /// hundred layers are supported on any stack: a write passes through all of them in one call, and
  /// many thousands end the process.
  ///
  /// - Parameter lower: The cache or source to ask second.
  public func layered<Lower: Source<Key, Value>>(over lower: Lower) -> Layered<Self, Lower> {
    Layered(upper: self, lower: lower)
  }
}

/// Two layers as one cache.
public struct Layered<Upper: Cache, Lower: Source>: Cache, AnsweringSource
where Upper.Key == Lower.Key, Upper.Value == Lower.Value {
  /// The key type of both layers.
  public typealias Key = Upper.Key

  /// The value type of both layers.
  public typealias Value = Upper.Value

  @usableFromInline let upper: Upper
  @usableFromInline let below: LayerBelow<Lower>

  init(upper: Upper, lower: Lower) {
    self.upper = upper
    below = LayerBelow(lower)
  }

  @inlinable var lower: Lower { below.layer }

  /// Returns the upper layer's answer, or else the lower one's.
  @inlinable
  public func answers(_ key: Key, _ lookup: Lookup) -> Signal<Answer<Value>> {
    Signal { observer, lifetime in
      // Taken before any layer is asked, so that every later write wins over the fill.
      let token = FillToken(for: lookup, during: lifetime)
      // Memory answers without a run, unless a running entry of its own does.
      if let memory = upper.memory, !memory.hasFlight(of: key, lookup) {
        ask(key, lookup, through: memory, token, observer, lifetime)
      } else {
        LayeredGet(upper, below, key, lookup, observer, lifetime, token).start()
      }
    }
  }

  /// Asks the memory cache that is the upper layer, and then the lower one; an immediate answer of
  /// either needs no object.
  @inlinable
  func ask(
    _ key: Key, _ lookup: Lookup, through memory: MemoryCache<Key, Value>, _ token: FillToken,
    _ observer: Observer<Answer<Value>>, _ lifetime: Lifetime
  ) {
    var report = AnswerReport(lookup, as: below.labels(of: upper).upper)
    let hash = MemoryHash(key)
    if let stamped = memory.look(key, hash, lookup.freshness, .everything) {
      report.hit(stamped.age, key, lookup, as: below.labels(of: upper).upper)
      return observer.only(.value(stamped), lifetime)
    }
    let outdated = memory.outdated(key, lookup).map { Answer.outdated($0) }
    if let outdated { report.received(outdated, key, lookup, as: below.labels(of: upper).upper) }
    report.ended(.completed, key, lookup, as: below.labels(of: upper).upper, isStore: true)
    if lifetime.isEnded { return }
    if outdated != nil || lower.isBeside(lookup.freshness) {
      return LayeredGet(upper, below, key, lookup, observer, lifetime, token, outdated)
        .askLower()
    }
    report = AnswerReport(lookup, as: below.labels(of: upper).lower)
    let answers = lower.answers(key, below.lookup(lookup, token))
    guard case .value(let stamped)? = answers.now?() else {
      return LayeredGet(upper, below, key, lookup, observer, lifetime, token)
        .receive(answers, report)
    }
    // The lower layer's code may have disposed of the get.
    if lifetime.isEnded { return }
    report.hit(stamped.age, key, lookup, as: below.labels(of: upper).lower)
    _ = memory.fill(key, hash, stamped, below.token(token))
    observer.only(.value(stamped), lifetime)
  }

  /// Returns the upper layer's immediate value.
  ///
  /// The lower layer is not tried, since its value has to be stored above, unless the upper layer
  /// is an ``EmptyCache``.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    if Upper.self == EmptyCache<Key, Value>.self {
      if lower.isBeside(lookup.freshness) { return nil }
      return lower.layerNow(key, lookup) { below.labels(of: upper).lower }
    }
    return upper.layerNow(key, lookup) { below.labels(of: upper).immediate }
  }

  /// Writes to the lower layer, then to the upper one.
  ///
  /// If a layer fails to store a value, its old value is removed, so that it does not reappear, and
  /// the outcome fails with ``CacheError/partlyStored(key:layer:underlying:)``.
  ///
  /// The lower layer decides the order of changes that overlap, unless writes pass it by. What is
  /// above is a copy: where the upper layer can't tell whether another change of the key came in
  /// between, it stores nothing, and the next get finds what the lower layer has.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    switch change {
    case .set(let key, let stamped, let revision):
      let stored = WriteOutcome.orRemoved(key, revision, in: lower, upper, lower.apply(change))
      let copy: Change = below.storesWrites ? .set(key, stamped, revision.ofCopy) : change
      let above = WriteOutcome.orRemoved(key, revision, in: upper, lower, upper.apply(copy))
      return WriteOutcome.both(stored, above)
    case .remove, .removeAll, .removeMatching:
      let removed = lower.apply(change)
      return WriteOutcome.both(removed, upper.apply(change))
    case .fill(let key, let stamped, let token):
      let stored = lower.apply(change)
      return WriteOutcome.any(stored, upper.apply(.fill(key, stamped, below.token(token))))
    }
  }

  /// Both layers.
  public func topology(for key: Key?) -> Topology {
    Topology(.layers, "layered", of: upper.topology(for: key), lower.topology(for: key))
  }
}

extension Layered: MemoryFronted {
  package var frontMemory: MemoryCache<Key, Value>? { upper.memory }
}

extension AnyCache {
  /// Layers any number of caches, the first on top, as ``Cache/layered(over:)`` does.
  ///
  /// No layers make an empty cache. A source that is not a cache may come last.
  ///
  /// - Complexity: O(*n*) to create; a miss passes through all layers.
  public init(layering layers: some Sequence<AnyCache>) {
    let fromBelow = layers.reversed()
    let lowest = fromBelow.first ?? AnyCache(EmptyCache())
    self = fromBelow.dropFirst().reduce(lowest) { AnyCache($1.layered(over: $0)) }
  }
}

/// A cache whose immediate answers are those of a memory cache.
///
/// That can be asked directly: a call through an existential is not specialised, and costs several
/// times as much as the lookup.
package protocol MemoryFronted<Key, Value>: Source {
  /// The memory cache; nil if there is none on top.
  var frontMemory: MemoryCache<Key, Value>? { get }
}

extension MemoryCache: MemoryFronted {
  package var frontMemory: MemoryCache<Key, Value>? { self }
}
