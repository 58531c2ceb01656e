import MillpondCore
import MillpondSignals

/// The store, the transfers and the refreshes of an HTTP cache; its release ends the refreshes.
final class HTTPCacheCore: Sendable {
  /// The transfers for one caller each, and those that callers of the same request share.
  let transfers: OriginTransfers
  let sharedTransfers: InFlightReuse<OriginTransfers>

  /// The refreshes by the numbers of the bodies that they may replace.
  private let refreshes = BackgroundRefreshes<Fingerprint>(
    Scheduler(ContinuousClock()), timeLimit: .seconds(60), max: 16)

  init(_ transfers: OriginTransfers) {
    self.transfers = transfers
    sharedTransfers = transfers.reusingInFlight()
  }

  deinit { refreshes.releaseAll() }

  /// Ends the refreshes, and lets no caller join a transfer that has begun.
  func leaveTransfers() {
    sharedTransfers.detachAll()
    refreshes.releaseAll()
  }

  /// Removes what is stored of a URL; requests from now on share no transfer from before.
  func invalidate(_ key: String) {
    _ = sharedTransfers.apply(.removeMatching(KeyPredicate { $0.key == key }, .next()))
    transfers.store.invalidate(key)
  }

  /// Asks the origin for a newer response without a caller, unless that is under way.
  ///
  /// Only once the caller has what is stored: the answer may remove that.
  func refresh(_ question: OriginRequest) {
    guard let number = question.stored?.body.number else { return }
    refreshes.keepRunning(
      number, isReload: false, sharedTransfers.answers(question, Lookup(priority: .low)))
  }
}
