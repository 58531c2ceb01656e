import MillpondCore

/// How a value that is stored as it comes fits in with what else is told.
struct FileTerms: Sendable {
  /// Its place among all tellings; nil for that of the subscription.
  ///
  /// If its key is told something later, it is not kept.
  var revision: Revision?

  /// Keeps every store from forgetting later writes until the value is there, however long that takes.
  var pending: PendingWrite?

  /// Whether a file is handed out at the end, also of a value that is not kept.
  var handsOut = false

  /// Is offered what has come if no more does, and says whether it has moved it elsewhere.
  ///
  /// What it has not is removed. May block.
  var keep: @Sendable (UnfinishedFile) -> Bool = { _ in false }

  /// Notes from time to time what has come, in case the process dies; nil is the end.
  ///
  /// May block.
  var note: @Sendable (UnfinishedFile?) -> Void = { _ in }
}
