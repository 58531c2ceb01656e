import MillpondCore
import MillpondSignals

/// The store, the transfers and the refreshes of an HTTP cache; its release ends the refreshes.
final class HTTPCacheCore: Sendable {
  /// The transfers for one caller each, and those that callers of the same request share.
  let transfers: OriginTransfers
  let sharedTransfers: InFlightReuse<OriginTransfers>

  /// The refreshes by the numbers of the bodies that they may replace.
  private let refreshes = Locked<[Fingerprint: Lifetime]>([:])

  init(_ transfers: OriginTransfers) {
    self.transfers = transfers
    sharedTransfers = transfers.reusingInFlight()
  }

  deinit { endRefreshes() }

  /// Ends the refreshes, and lets no caller join a transfer that has begun.
  func leaveTransfers() {
    sharedTransfers.detachAll()
    endRefreshes()
  }

  private func endRefreshes() {
    for lifetime in refreshes.withLock({ Array($0.values) }) { lifetime.end() }
  }

  /// Removes what is stored of a URL; requests from now on share no transfer from before.
  func invalidate(_ key: String) {
    _ = sharedTransfers.apply(.removeMatching(KeyPredicate { $0.key == key }, .next()))
    transfers.store.invalidate(key)
  }

  /// The greatest number of refreshes at a time, and the time after which one is given up.
  private static let refreshLimit = 16
  private static let refreshTime = Duration.seconds(60)

  /// Asks the origin for a newer response without a caller, unless that is under way.
  ///
  /// Only once the caller has what is stored: the answer may remove that.
  func refresh(_ question: OriginRequest) {
    guard let number = question.stored?.body.number else { return }
    let lifetime = refreshes.withLock { refreshes -> Lifetime? in
      if refreshes.count >= Self.refreshLimit || refreshes[number] != nil { return nil }
      let lifetime = Lifetime()
      refreshes[number] = lifetime
      return lifetime
    }
    guard let lifetime else { return }
    lifetime.onEnd { [weak self] in
      self?.refreshes.discard { $0.removeValue(forKey: number) }
    }
    sharedTransfers.answers(question, Lookup(priority: .low))
      .timeout(Self.refreshTime, awaiting: .end)
      .run(
        Observer(next: { _ in }, other: { if $0.isTerminal { lifetime.end() } }), lifetime)
  }
}
