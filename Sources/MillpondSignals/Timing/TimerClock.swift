/// A clock that can call back by itself, without a task that sleeps.
///
/// What a manual clock adopts to make timers deterministic.
public protocol TimerClock: Clock where Duration == Swift.Duration {
  /// Runs `action` once, when `delay` has passed.
  ///
  /// - Returns: The handle that calls it off.
  func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> Disposable
}
