/// How long anything here waits for an event before it gives up.
public enum Watchdog {
  /// Long enough for a busy machine; a test that is right never waits this long.
  ///
  /// Not ten seconds, which would do if tests were alone: where hundreds of them share the two
  /// threads of a small machine's pool, what a test waits for may itself wait as long for a thread.
  public static let limit: Duration = .seconds(60)
}
