/// What becomes of a shared run whose last subscriber leaves before its end.
public enum ReplayPolicy: Sendable {
  /// It is disposed of and forgotten; the next subscriber starts anew.
  case cancelWhenUnobserved

  /// It goes on to its end.
  case keepRunning
}
