public import MillpondSignals

extension Source {
  /// Runs at most `count` gets at once; the others wait, the most urgent first, then in order.
  ///
  /// A get has its slot from its start to its end, or until its asker leaves. What is there at once
  /// needs none, nor does an ask for what is cached only. Tellings are not limited.
  ///
  /// - Parameter count: How many; less than one is taken as one.
  @inlinable
  public func limited(to count: Int) -> Limited<Self> {
    Limited(base: self, slots: Slots(count))
  }
}

/// A source or cache of which few gets run at once.
public struct Limited<Base: Source>: Source {
  /// What is asked for.
  public typealias Key = Base.Key

  /// What is answered.
  public typealias Value = Base.Value

  @usableFromInline let base: Base
  @usableFromInline let slots: Slots

  @inlinable
  init(base: Base, slots: Slots) {
    self.base = base
    self.slots = slots
  }

  /// The base's answer, when it is this get's turn.
  @inlinable
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    inTurn(lookup) { base.get(key, lookup) }
  }

  /// The base's answer, when it is this get's turn.
  @inlinable
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<Value>> {
    inTurn(lookup) { base.getStamped(key, lookup) }
  }

  /// What the base has at once.
  @inlinable
  public func now(_ key: Key, _ lookup: Lookup) -> Value? {
    base.now(key, lookup)
  }

  /// Tells the base.
  @inlinable
  public func apply(_ change: Change<Key, Value>) -> Signal<Void> {
    base.apply(change)
  }

  /// The mark of the base.
  @inlinable
  public func mark(for key: Key) -> Mark {
    base.mark(for: key)
  }

  @inlinable
  func inTurn<Answer>(
    _ lookup: Lookup, _ get: @escaping @Sendable () -> Signal<Answer>
  ) -> Signal<Answer> {
    if case .cachedOnly = lookup.freshness { return .deferred(get) }
    return Signal { asking, lifetime in
      let observer = asking.inContext(of: WorkContext.current)
      slots.take(lookup.priority, lifetime) { slot in
        get().run(
          observer.replacingOther { event in
            if event.isTerminal { slot.end() }
            observer.other(event)
          }, slot)
      }
    }
  }

  /// The base, and the limit.
  public func layout(for key: Key?) -> Layout {
    Layout(.wrapper, slots.title, of: base.layout(for: key))
  }
}

extension Limited: Cache where Base: Cache {}
