public import MillpondSignals

extension Source {
  /// Gets the values of `keys` at low priority, so that they are stored when they are wanted, and
  /// delivers none.
  ///
  ///     let ahead = pictures.prefetch(nextURLs).subscribe()
  ///
  /// A get of such a key meanwhile joins the work and raises its priority. A key that fails, or that
  /// no layer has a value for, is no failure: the get that wants it says so. Disposing of the
  /// subscription gives up what no other caller waits for.
  ///
  /// All keys are asked for at once; a limit (``limited(to:reserved:maxWaiting:)``) lets the rest
  /// wait.
  ///
  /// - Parameters:
  ///   - keys: The keys; a duplicate is got once.
  ///   - priority: The urgency of the work.
  ///   - file: The file of the call.
  ///   - line: The line of the call.
  /// - Returns: A signal that sends a value when all are there or have failed. It never fails.
  /// - Complexity: O(*n*) in the number of keys; no value is kept for it.
  public func prefetch(
    _ keys: [Key], priority: Priority = .low, file: StaticString = #fileID, line: UInt = #line
  ) -> Signal<Void> {
    .deferred {
      let gets = Set(keys).map { key in
        get(key, priority: priority, file: file, line: line).map { _ in () }.firstResult
      }
      return zip(gets).map { _ in () }
    }
  }
}
