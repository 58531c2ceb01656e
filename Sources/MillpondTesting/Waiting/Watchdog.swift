/// How long anything here waits for an event before it gives up.
public enum Watchdog {
  /// Long enough for a busy machine; a test that is right never waits this long.
  public static let limit: Duration = .seconds(10)
}
