extension Signal {
  /// Sends the elements of `sequence` in order, and completes; stops where the subscriber leaves.
  @inlinable
  public static func from(_ sequence: some Sequence<Value> & Sendable) -> Signal {
    Signal { observer, lifetime in
      for element in sequence {
        if lifetime.isEnded { return }
        observer.next(element)
      }
      if !lifetime.isEnded { observer.completed() }
    }
  }

  /// Sends `values` in order, and completes.
  @inlinable
  public static func of(_ values: Value...) -> Signal {
    from(values)
  }
}

extension Signal {
  /// Runs `work` in a task at each subscription, sends what it returns, and completes.
  ///
  /// Disposal cancels the task. What `work` returns or throws in spite of that goes nowhere. What it
  /// throws before fails the signal.
  ///
  ///     let profile = Signal.async { try await api.profile() }
  @inlinable
  public static func async(
    priority: TaskPriority? = nil, _ work: @escaping @Sendable () async throws -> Value
  ) -> Signal {
    Signal { observer, lifetime in
      let task = Task(priority: priority) {
        do {
          let value = try await work()
          if !lifetime.isEnded { observer.next(value) }
          if !lifetime.isEnded { observer.completed() }
        } catch {
          if !lifetime.isEnded { observer.failed(error) }
        }
      }
      lifetime.onEnd { task.cancel() }
    }
  }
}

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
