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
