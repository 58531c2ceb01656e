extension Signal {
  /// Iterates over `sequence` in a task at each subscription, sends its elements, and completes.
  ///
  /// Disposal cancels the task. What the sequence throws fails the signal. Nothing holds the
  /// sequence back: each element is sent as soon as it is there. A sequence for one loop only, as
  /// `AsyncStream` is, serves one subscription; share the signal with ``replayLast(_:)``.
  ///
  ///     let messages = Signal.from(stream).replayLast()
  @inlinable
  public static func from<Failure>(
    _ sequence: some AsyncSequence<Value, Failure> & Sendable
  ) -> Signal {
    Signal { observer, lifetime in
      let task = Task {
        do {
          for try await value in sequence {
            if lifetime.isEnded { return }
            observer.next(value)
          }
          // A sequence may end or throw because the task was cancelled: that is no event.
          if !lifetime.isEnded { observer.completed() }
        } catch {
          if !lifetime.isEnded { observer.failed(error) }
        }
      }
      lifetime.onEnd { task.cancel() }
    }
  }
}
