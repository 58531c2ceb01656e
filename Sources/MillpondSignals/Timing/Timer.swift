extension Signal where Value == Void {
  /// Sends one value when `delay` has passed, and completes.
  ///
  ///     Signal.timer(after: .seconds(2)).flatMap { refresh() }
  ///
  /// The time is counted from the subscription. For a value of your own, delay it:
  /// `Signal.just(value).delay(.seconds(2))`.
  ///
  /// - Parameters:
  ///   - delay: The time to wait; with zero or less, the value is sent inside the subscription.
  ///   - clock: The clock that measures the time.
  /// - Note: The value arrives on the clock's thread.
  public static func timer(
    after delay: Duration, clock: some Clock<Duration> = ContinuousClock()
  ) -> Signal {
    .just(()).delay(delay, clock: clock)
  }
}
