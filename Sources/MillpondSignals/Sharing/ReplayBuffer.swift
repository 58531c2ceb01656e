extension Signal {
  /// Shares one run among all subscribers, and repeats its last values to late ones.
  ///
  /// The same as ``replayLast(_:resetsOnFailure:)`` otherwise. After the end, every subscriber
  /// receives the last values and the end.
  ///
  ///     let recent = messages.replay(20)
  ///
  /// - Parameters:
  ///   - count: The number of values to repeat; less than one is taken as one. ``share()`` repeats
  ///     none, ``replayAll(_:resetsOnFailure:)`` all.
  ///   - policy: The fate of a run whose last subscriber leaves before its end.
  ///   - resetsOnFailure: Whether a run that fails is forgotten, as by
  ///     ``replayLast(_:resetsOnFailure:)``.
  /// - Complexity: O(1) amortised for each value; O(`count`) for each late subscriber.
  @inlinable
  public func replay(
    _ count: Int, _ policy: ReplayPolicy = .cancelWhenUnobserved, resetsOnFailure: Bool = false
  ) -> Signal {
    let numbered = numbered(keeping: max(1, count))
      .replayLast(policy, resetsOnFailure: resetsOnFailure)
    return derived { observer, lifetime in
      let isPresent = SerialState(false)
      numbered.run(
        observer.replacingNext { newest in
          if isPresent.value { return observer.next(newest.value) }
          isPresent.value = true
          for value in newest.before where !lifetime.isEnded { observer.next(value) }
          if !lifetime.isEnded { observer.next(newest.value) }
        }, lifetime)
    }
  }

  /// Shares one run among all subscribers, and repeats all its values to late ones.
  ///
  /// The same as ``replay(_:_:resetsOnFailure:)`` with a count without bound: the values are kept
  /// for as long as the run, or the settled signal, is.
  ///
  /// - Parameters:
  ///   - policy: The fate of a run whose last subscriber leaves before its end.
  ///   - resetsOnFailure: Whether a run that fails is forgotten, as by
  ///     ``replayLast(_:resetsOnFailure:)``.
  /// - Complexity: O(1) amortised for each value; O(*n*) memory, and time for each late subscriber,
  ///   with *n* values so far.
  @inlinable
  public func replayAll(
    _ policy: ReplayPolicy = .cancelWhenUnobserved, resetsOnFailure: Bool = false
  ) -> Signal {
    replay(.max, policy, resetsOnFailure: resetsOnFailure)
  }

  /// Sends each value with its number, and remembers the last `limit` of each run.
  @inlinable
  func numbered(keeping limit: Int) -> Signal<Numbered<Value>> {
    derived { observer, lifetime in
      let history = Locked(ReplayBuffer<Value>(limit: limit))
      run(
        observer.replacingNext { value in
          let (number, dropped) = history.withLock { $0.append(value) }
          withExtendedLifetime(dropped) {}  // released here, not under the lock
          observer.next(Numbered(value, number, history))
        }, lifetime)
    }
  }
}

/// A value of a run, its number from 1, and the history of that run.
@usableFromInline
@frozen
struct Numbered<Value: Sendable>: Sendable {
  @usableFromInline let value: Value
  @usableFromInline let number: Int
  @usableFromInline let history: Locked<ReplayBuffer<Value>>

  @inlinable
  init(_ value: Value, _ number: Int, _ history: Locked<ReplayBuffer<Value>>) {
    self.value = value
    self.number = number
    self.history = history
  }

  /// The remembered values before this one, in order.
  @inlinable
  var before: [Value] {
    history.withLock { $0.values(before: number) }
  }
}

/// The last values of a run, and the number of all its values.
///
/// It changes in place. A late subscriber copies the values that it is to receive, because the run
/// may go on meanwhile.
@usableFromInline
@frozen
struct ReplayBuffer<Value: Sendable>: Sendable {
  @usableFromInline let limit: Int
  @usableFromInline var count = 0
  @usableFromInline var last = Queue<Value>()

  @inlinable
  init(limit: Int) {
    self.limit = limit
  }

  /// Appends a value; returns its number, and the value that is forgotten for it.
  @inlinable
  mutating func append(_ value: Value) -> (number: Int, dropped: Value?) {
    count += 1
    last.append(value)
    return (count, last.count > limit ? last.popFirst() : nil)
  }

  /// Returns the remembered values with lower numbers.
  @inlinable
  func values(before number: Int) -> [Value] {
    last.prefix(last.count - (count - number) - 1)
  }
}
