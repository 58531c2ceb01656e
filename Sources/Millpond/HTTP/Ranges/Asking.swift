/// How a body is asked for that is larger than what may be in memory.
enum Asking: Sendable {
  /// All at once: the transport waits for whoever takes it.
  case atOnce

  /// A range after the other.
  case inRanges
}
