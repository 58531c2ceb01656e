/// A promise that every cache and every composition keeps.
package enum HistoryRule: Sendable, Hashable, CaseIterable {
  /// Every value was made by a write or an answer of the origin, for the requested key.
  case made

  /// A get never sees a value that was overwritten or removed before the get began.
  ///
  /// A write is visible when its call returns. An answer of the origin counts as old as the moment
  /// in which the origin was asked. The end of a scope removes everything.
  case current

  /// No value that the origin sent after its run was cancelled or had ended is ever shown.
  case cancelled

  /// A value that was set, and not removed since, is found, even after the process was killed.
  case kept

  /// After the removal of everything, or the end of the scope, no file contains an earlier value.
  case erased

  /// A state shows only stored values.
  case shown

  /// After the end of a scope, nothing is fetched for a get that began before it.
  case parted

  /// No delivered value is older than its time to live allows.
  ///
  /// A clock that is set back adds at most one time to live, from then on.
  case usable

  /// One get is one hit or one miss of the first layer.
  case counted

  /// Every call returns, even if a user holds a lock around it and takes it in the observers.
  case returned

  /// Every get ends once, and every write has an outcome.
  case ended

  /// The origin's run is cancelled when no get waits for it any more.
  case abandoned

  /// No closure of a subscription runs after its disposal has returned.
  case silent
}
