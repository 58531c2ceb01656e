import MillpondCore

/// The entries that a removal of everything has left behind, since a later write had overtaken it:
/// they are removed, but still have slots.
struct RemovedEntries: Sendable {
  /// The entries that were last written before this revision are removed.
  var revision: Revision

  /// The next slot to examine.
  var place: Slot = 0

  /// The greatest number of slots that a step examines.
  static let stepSize = 256
}
