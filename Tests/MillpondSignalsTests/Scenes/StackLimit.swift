/// How deep operators may be nested on how much stack.
enum StackLimit {
  /// What a secondary thread has on Apple platforms; the frames of the sanitizers are larger.
  static let bytes = (Sanitizer.isPresent ? 8 : 1) * 512 * 1_024

  #if DEBUG
    /// How many of any kind, in an unoptimised build.
    static let depth = 64

    /// What a thousand operators of the smaller kinds may take, in an unoptimised build.
    static let bytesOfThousand = 16 * 1_024 * 1_024
  #else
    /// How many of any kind.
    static let depth = 128

    /// What a thousand operators of the smaller kinds may take.
    static let bytesOfThousand = bytes
  #endif
}
