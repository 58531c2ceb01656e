/// How much stack a deep chain may take: what a secondary thread has on Apple platforms.
///
/// Unoptimised frames, and those of the sanitizers, are several times as large.
enum StackLimit {
  #if DEBUG
    static let bytes = 16 * 1_024 * 1_024
  #else
    static let bytes = 512 * 1_024
  #endif
}
