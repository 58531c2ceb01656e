extension Signal {
  /// Shares one run among all subscribers, and repeats its last values to late ones.
  ///
  /// The same as ``replayLast(_:)`` otherwise. After the end, every subscriber receives the last
  /// values and the end.
  ///
  /// - Parameters:
  ///   - count: The number of values to repeat; less than one is taken as one. ``share()`` repeats
  ///     none.
  ///   - policy: The fate of a run whose last subscriber leaves before its end.
  /// - Complexity: O(`count`) for each value.
  @inlinable
  public func replay(
    _ count: Int, _ policy: ReplayPolicy = .cancelWhenUnobserved
  ) -> Signal {
    let histories = scan(History(limit: max(1, count))) { $0.appending($1) }.replayLast(policy)
    return Signal(
      start: { observer, lifetime in
        let seen = SerialState(0)
        histories.run(
          observer.replacingNext { history in
            for value in history.values(after: seen.value) where !lifetime.isEnded {
              observer.next(value)
            }
            seen.value = history.count
          }, lifetime)
      }, now: nil, emptyError: emptyError)
  }
}

/// The last values of a run, and the number of all its values.
@usableFromInline
struct History<Value: Sendable>: Sendable {
  @usableFromInline let limit: Int
  @usableFromInline var count = 0
  @usableFromInline var last: [Value] = []

  @inlinable
  init(limit: Int) {
    self.limit = limit
  }

  @inlinable
  func appending(_ value: Value) -> History {
    var history = History(limit: limit)
    history.count = count + 1
    history.last = last.suffix(limit - 1) + [value]
    return history
  }

  /// Returns the remembered values after the first `seen` ones.
  @inlinable
  func values(after seen: Int) -> ArraySlice<Value> {
    last.suffix(count - seen)
  }
}
