extension Signal {
  /// Makes a signal of each value, and sends the events of those signals.
  ///
  /// Progress is that of the inner signals, and of this signal while none of them runs. The first
  /// failure, here or in an inner signal, ends everything.
  ///
  /// - Parameters:
  ///   - strategy: The treatment of a value that arrives while an inner signal still runs.
  ///   - transform: Runs on the thread that sends the value.
  /// - Complexity: Constant stack, even if many inner signals end at once.
  @inlinable
  public func flatMap<NewValue>(
    _ strategy: FlatMapStrategy = .concat,
    _ transform: @escaping @Sendable (Value) -> Signal<NewValue>
  ) -> Signal<NewValue> {
    switch strategy {
    case .concat: merging(atMost: 1, transform)
    case .merge(let limit): merging(atMost: max(1, limit), transform)
    case .latest: switching(transform)
    }
  }
}

/// The treatment of a value that arrives in `flatMap` while an inner signal still runs.
public enum FlatMapStrategy: Sendable {
  /// Inner signals run one after the other, in order; later ones wait.
  case concat

  /// At most so many inner signals run at a time, their values interleaved; later ones wait.
  ///
  /// A limit below one is taken as one, which is ``concat``.
  case merge(atMost: Int)

  /// Only the newest inner signal runs; the one before is disposed of.
  case latest

  /// All inner signals run at the same time, their values interleaved.
  public static var merge: FlatMapStrategy { .merge(atMost: .max) }
}
