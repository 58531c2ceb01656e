/// The permitted depth of nested operators, and its stack.
enum StackLimit {
  /// The stack of a secondary thread on Apple platforms; the frames of the sanitizers are larger.
  static let bytes = (Sanitizer.isPresent ? 8 : 1) * 512 * 1_024

  #if DEBUG
    /// The depth for operators of any kind, in an unoptimised build.
    static let depth = 64

    /// The stack for a thousand operators of the smaller kinds, in an unoptimised build.
    static let bytesOfThousand = 16 * 1_024 * 1_024
  #else
    /// The depth for operators of any kind.
    static let depth = 128

    /// The stack for a thousand operators of the smaller kinds.
    static let bytesOfThousand = 2 * bytes
  #endif
}
