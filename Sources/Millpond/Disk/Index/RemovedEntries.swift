import MillpondCore

/// The entries that a removal of everything has left behind, since a later write had overtaken it,
/// or many writes were pending: they are removed, but still have slots.
struct RemovedEntries: Sendable {
  /// The entries that were last written before this revision are removed.
  var revision: Revision

  /// Whether there are no other entries, so that the index can be given up as a whole.
  var isAll: Bool

  /// The end of the slots that have not been examined; the last ones, which have most of the pending
  /// writes, come first.
  var end: Slot

  /// The greatest number of slots that a step examines.
  static let stepSize = 256

  /// The greatest numbers of pending writes and of large values with which all entries are dropped
  /// at once.
  static let pendingCount = 1_024
  static let largeCount = 8_192
}
