public import MillpondSignals

extension Source {
  /// Asks `alternative` as well if a get here fails, or has no answer after `delay`.
  ///
  /// The first value wins, and the other get is disposed of. If both end without one: the last
  /// failure, else a miss. A miss here that comes within the delay is the answer: nobody else is asked.
  /// Progress is that of this source while it runs, and then the alternative's. What the alternative
  /// gives is not stored here, and tellings do not reach it.
  ///
  /// - Parameters:
  ///   - alternative: Another way to the same values: a mirror, or the same origin once more.
  ///   - delay: Of zero or less, both are asked at once, unless this one answers at once.
  @inlinable
  public func hedged<Alternative: Source<Key, Value>>(
    with alternative: Alternative, after delay: Duration,
    clock: some Clock<Duration> = ContinuousClock()
  ) -> Hedged<Self, Alternative> {
    Hedged(base: self, alternative: alternative, delay: delay, timeline: Timeline(clock))
  }
}

/// A source or cache with an alternative for when it is slow, or fails.
public struct Hedged<Base: Source, Alternative: Source>: Wrapper, StampedSource
where Base.Key == Alternative.Key, Base.Value == Alternative.Value {
  /// What is asked for.
  public typealias Key = Base.Key

  /// What is answered.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let alternative: Alternative
  @usableFromInline let delay: Duration
  @usableFromInline let timeline: Timeline
  @usableFromInline var title: String { "hedged after \(delay.brief)" }

  @inlinable
  init(base: Base, alternative: Alternative, delay: Duration, timeline: Timeline) {
    self.base = base
    self.alternative = alternative
    self.delay = delay
    self.timeline = timeline
  }

  /// The first answer of the two.
  @inlinable
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    let first = base.layerAnswer(key, lookup)
    if alternative.isBeside(lookup.freshness) { return first }
    return Signal { observer, lifetime in
      let second = alternative.layerAnswer(key, lookup).inContext(of: WorkContext.current)
      Hedge(observer, lifetime, second).run(first, delay, timeline)
    }
  }

  /// The base, and the alternative.
  public func layout(for key: Key?) -> Layout {
    Layout(.layers, title, of: base.layout(for: key), alternative.layout(for: key))
  }
}

extension Hedged: Cache where Base: Cache {}
