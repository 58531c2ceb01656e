extension Signal {
  /// Sends the elements of `sequence` in order and completes; stops iterating when the subscriber
  /// leaves.
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

  /// Sends `values` in order and completes.
  @inlinable
  public static func of(_ values: Value...) -> Signal {
    from(values)
  }
}

extension Signal {
  /// Runs `work` in a task for each subscription, sends its result, and completes.
  ///
  /// An error of `work` fails the signal. Disposal cancels the task; a result or error that `work`
  /// still produces after that is discarded.
  ///
  ///     let profile = Signal.async { try await api.profile() }
  ///
  /// - Parameters:
  ///   - priority: The priority of the task; nil inherits that of the subscriber's context.
  ///   - work: Runs once for each subscription.
  @inlinable
  public static func async(
    priority: TaskPriority? = nil, _ work: @escaping @Sendable () async throws -> Value
  ) -> Signal {
    inTask(priority) { observer, lifetime in
      let value = try await work()
      if !lifetime.isEnded { observer.next(value) }
    }
  }
}

extension Signal {
  /// Iterates over `sequence` in a task for each subscription, sends its elements, and completes.
  ///
  /// An error of the sequence fails the signal, and disposal cancels the task. There is no back
  /// pressure: each element is sent as soon as it arrives. A single-pass sequence such as
  /// `AsyncStream` serves one subscription only; share the signal with
  /// ``replayLast(_:resetsOnFailure:)``.
  ///
  ///     let messages = Signal.from(stream).replayLast()
  @inlinable
  public static func from<Failure>(
    _ sequence: some AsyncSequence<Value, Failure> & Sendable
  ) -> Signal {
    inTask(nil) { observer, lifetime in
      for try await value in sequence {
        if lifetime.isEnded { return }
        observer.next(value)
      }
    }
  }

  /// Runs `work`, which sends values, in a task for each subscription, and then completes; disposal
  /// cancels the task.
  @inlinable
  static func inTask(
    _ priority: TaskPriority?,
    _ work: @escaping @Sendable (Observer<Value>, Lifetime) async throws -> Void
  ) -> Signal {
    Signal { observer, lifetime in
      let task = Task(priority: priority) {
        do {
          try await work(observer, lifetime)
          // The work may end or throw because its task was cancelled, which is not an event.
          if !lifetime.isEnded { observer.completed() }
        } catch {
          if !lifetime.isEnded { observer.failed(error) }
        }
      }
      lifetime.onEnd { task.cancel() }
    }
  }
}
