public import MillpondSignals

extension Source {
  /// Runs at most `count` gets at once; the others wait, the most urgent first, then in order.
  ///
  /// A get has its slot from its start to its end, or until its asker leaves. What is there at once
  /// needs none, nor does an ask for what is cached only. Tellings are not limited. A get of a flight
  /// is as urgent as that is at the moment: an urgent asker who joins brings it forward.
  ///
  /// A get that asks for more through the same limit lends its slot while it waits for that, by what it
  /// returns or in a task. Of what it only subscribes to, nobody can know whether it waits for it: that
  /// waits for a slot, unless all slots are held by such gets, in which case one more runs. Tasks that
  /// outlive the get have no slot to lend.
  ///
  /// - Parameters:
  ///   - count: How many; less than one is taken as one.
  ///   - reserved: How many of these are kept for asks of normal or high priority. At least one is
  ///     for everybody, whatever is reserved, so that nobody waits for ever.
  /// - Complexity: O(log *n*) to wait, of *n* that do.
  @inlinable
  public func limited(to count: Int, reserved: Int = 0) -> Limited<Self> {
    Limited(base: self, slots: Slots(count, reserved: reserved))
  }
}

/// A source or cache of which few gets run at once.
public struct Limited<Base: Source>: Detour {
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

  @usableFromInline var title: String { slots.title }

  @inlinable
  func answer<Answer>(
    to key: Key, _ lookup: Lookup, _ ask: @escaping @Sendable () -> Signal<Answer>
  ) -> Signal<Answer> {
    .inTurn(lookup, ask) { slots.take(lookup, $0, $1) }
  }
}

extension Limited: Cache where Base: Cache {}
