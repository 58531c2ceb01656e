/// What was found in a log, as its store takes it over.
struct LogContents {
  /// A segment, and where its last good record ends.
  struct Part {
    let segment: Segment
    let size: Int
  }

  /// The oldest first.
  var parts: [Part] = []

  /// The highest number of a segment that is known of, whether that is still there or not: no later
  /// one may be taken for it.
  var lastSegment: UInt32 = 0

  /// Whether the last one can be written to.
  var canContinue = false

  /// The last segment with a removal of everything, as far as it is known; what is older may go.
  var erasedBefore: UInt32 = 0

  /// How much of the log had to be read, since no checkpoint tells of it.
  var uncheckedBytes = 0

  /// How large the checkpoint is, if there is one.
  var indexBytes = 0

  /// Up to where the log is on the device; nil if no flush to the device was ever made.
  var synced: LogPosition?

  /// Records that were not whole, or not to be made out.
  var damagedRecords = 0
}
