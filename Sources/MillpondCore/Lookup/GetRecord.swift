import MillpondSignals

/// The events of a get that has ended, or of a write that failed.
package struct GetRecord: Sendable {
  /// The end of a get.
  package enum End: Sendable {
    /// The caller received a value.
    case value

    /// No layer had a value.
    case miss

    /// The get, or the write, failed.
    case failed(any Error)

    /// The caller left before a value came.
    case left
  }

  /// The key of the get; nil for a write that concerns all keys.
  package let key: (any Hashable & Sendable)?

  /// The events, in order; at most as many as ``limit``.
  package let steps: [CacheEvent]

  /// The end of the get.
  package let end: End

  /// The time from the beginning to the end; nil for an immediate answer and for a write.
  package let duration: Duration?

  /// The greatest number of events of one get that are kept.
  package static let limit = 32

  package init(
    key: (any Hashable & Sendable)?, steps: [CacheEvent], end: End, duration: Duration? = nil
  ) {
    self.key = key
    self.steps = steps
    self.end = end
    self.duration = duration
  }
}
