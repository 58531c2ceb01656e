import MillpondCore
import MillpondSignals

extension DiskStore {
  /// Makes a stored value new that its origin has confirmed, if it is still stored.
  ///
  /// A copy of its record with the new times replaces that, after all earlier writes; a value that
  /// has a file keeps it. Until then gets find the former times. It is the value that is stored by
  /// then, since a later get may have replaced the caller's, also where neither has a validator.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - stamped: The new times, and the validator.
  ///   - token: The token of the renewal.
  ///   - timeToLive: The time to live of a value without one of its own.
  func renew(
    _ key: String, _ stamped: Stamped<Void>, _ token: FillToken, _ timeToLive: TimeToLive
  ) -> Signal<Void> {
    let times = DiskExpiry.ofFill(stamped, timeToLive, at: options.now())
    let token = token.accepted
    return outcomeAfterWriting {
      guard let compared = self.removals.compare(key, token) else { return nil }
      return try self.writer.renew(key, times, stamped.validator, token, compared: compared)
    }
  }
}
