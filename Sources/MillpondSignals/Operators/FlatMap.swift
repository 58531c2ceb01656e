extension Signal {
  /// Makes a signal of each value, and sends what those signals send.
  ///
  /// Progress is that of the inner signals, and of this one while none of them runs. The first
  /// failure, here or in an inner signal, ends everything.
  ///
  /// - Parameters:
  ///   - strategy: What happens to a value that arrives while an inner signal still runs.
  ///   - transform: Runs on the thread that sends the value.
  /// - Complexity: Constant stack, however many inner signals end at once.
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

/// What `flatMap` does with a value that arrives while an inner signal still runs.
public enum FlatMapStrategy: Sendable {
  /// One after the other, in order; the later ones wait.
  case concat

  /// At most so many at once, their values interleaved as they come; the later ones wait.
  ///
  /// A limit below one is taken as one, which is ``concat``.
  case merge(atMost: Int)

  /// The newest only: the running one is disposed of.
  case latest

  /// All at once; their values are interleaved as they come.
  public static var merge: FlatMapStrategy { .merge(atMost: .max) }
}
