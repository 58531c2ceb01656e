import MillpondCore

/// A judge of the ages of cached values by their policy.
struct HistoryFreshness<Key: Hashable & Sendable, Value: Hashable & Sendable> {
  typealias Content = HistoryLog<Key, Value>.Content
  typealias View = HistoryView<Key, Value>

  private let content: Content
  private let policy: FreshnessPolicy

  init(_ content: Content, _ policy: FreshnessPolicy) {
    self.content = content
    self.policy = policy
  }

  /// Returns the findings about the answer to a get, by rule.
  func findings(_ view: View) -> [(rule: HistoryRule, finding: String?)] {
    [
      (.usable, unusable(view)), (.fresh, stale(view)), (.fetchedOnce, fetchedTwice(view)),
      (.revalidated, notFetched(view)), (.failureRemembered, askedAgain(view)),
    ]
  }

  // MARK: Ages

  /// Returns a finding for a value that was older at its delivery than any value may be.
  private func unusable(_ view: View) -> String? {
    guard case .after(let limit) = policy.usableFor else { return nil }
    for (value, _, at) in view.values {
      guard let making = content.makings[value], at - making.at >= limit else { continue }
      return "\(view.name) gave \(value) at an age of \(at - making.at), usable for \(limit)"
    }
    return nil
  }

  /// Returns a finding for a value that was too old for a get that accepts no stale ones.
  private func stale(_ view: View) -> String? {
    guard let limit = limit(view), use(view) == .never else { return nil }
    for (value, _, _) in view.values {
      guard let making = content.makings[value], making.time < view.began,
        view.beganAt - making.at > limit, !isFromOpenFetch(making, view)
      else { continue }
      return "\(view.name) gave \(value) at an age of \(view.beganAt - making.at),"
        + " though it takes no stale value"
    }
    return nil
  }

  /// Returns whether a value is from a fetch that was still running when the get began.
  private func isFromOpenFetch(_ making: HistoryMaking, _ view: View) -> Bool {
    guard case .fetch(let number) = making.maker else { return false }
    return content.fetches[number].ended ?? .max > view.began
  }

  /// Returns the greatest age of a value that is a sufficient answer; nil if any age is.
  private func limit(_ view: View) -> Duration? {
    let fresh: Duration? =
      if case .after(let time) = policy.freshFor { time - .nanoseconds(1) } else { nil }
    return switch view.freshness {
    case .any: fresh
    case .atMost(let age): min(age, fresh ?? age)
    case .reload, .cachedOnly: nil
    }
  }

  private func use(_ view: View) -> StaleUse {
    view.question.stale ?? (view.freshness == .any ? policy.stale : .never)
  }

  // MARK: Fetches

  /// Returns the fetches that a get started inside its subscription, without those of nested gets.
  private func fetches(of view: View) -> [HistoryFetch<Key>] {
    content.fetches.filter { fetch in
      let caller = content.views.last {
        $0.key == view.key && fetch.asked > $0.began && fetch.asked < $0.returned ?? .max
      }
      return fetch.key == view.key && caller?.began == view.began
    }
  }

  /// Returns a finding for a get that made more than one fetch.
  private func fetchedTwice(_ view: View) -> String? {
    let names = fetches(of: view).map(\.name)
    if names.count < 2 { return nil }
    return "\(view.name) began \(names.count) fetches: \(names.joined(separator: ", "))"
  }

  /// Returns a finding for a get that received a stale value at once, without a fetch of a new one.
  private func notFetched(_ view: View) -> String? {
    guard let limit = limit(view), case .after = use(view), let returned = view.returned,
      let (value, time, _) = view.values.first, time < returned,
      let making = content.makings[value], making.time < view.began,
      view.beganAt - making.at > limit, !isFromOpenFetch(making, view),
      !hasRecentFailure(before: view)
    else { return nil }
    let isFetched = content.fetches.contains { fetch in
      fetch.key == view.key && fetch.asked < returned && (fetch.cancelled ?? .max) > returned
        && (fetch.ended ?? .max) > view.began
    }
    if isFetched { return nil }
    return "\(view.name) gave the stale \(value) at once, and no new one was fetched"
  }

  /// Returns a finding for a get that asked the origin while a failure was still remembered.
  private func askedAgain(_ view: View) -> String? {
    guard view.freshness != .reload, let fetch = fetches(of: view).first,
      let failed = rememberedFailure(before: view)
    else { return nil }
    return "\(view.name) began \(fetch.name), though the failure of \(failed.name) was remembered"
  }

  private func hasRecentFailure(before view: View) -> Bool {
    let life = policy.failureLife(HistoryError(isLossOfConnectivity: false))
    return content.fetches.contains { fetch in
      guard fetch.key == view.key, let at = fetch.failedAt else { return false }
      return at <= view.beganAt && view.beganAt - at < life
    }
  }

  /// Returns the fetch whose remembered failure must be the answer to a get.
  private func rememberedFailure(before view: View) -> HistoryFetch<Key>? {
    content.fetches.last { fetch in
      guard fetch.key == view.key, !fetch.isReload, !fetch.isMiss, let at = fetch.failedAt,
        let ended = fetch.ended, ended < view.began, !sends(fetch, after: fetch.asked)
      else { return false }
      let life = policy.failureLife(HistoryError(isLossOfConnectivity: false))
      if view.beganAt - at >= life || isWritten(view.key, after: fetch.asked, before: view.began) {
        return false
      }
      return !content.fetches.contains { isSuccess($0, view.key, after: ended, before: view.began) }
    }
  }

  private func isWritten(_ key: Key, after time: Int, before other: Int) -> Bool {
    content.writes.contains { write in
      write.concerns(key) && write.began < other && (write.returned ?? .max) > time
    }
  }

  /// Returns whether a fetch, not made obsolete by a write, sent a value or missed in that time.
  private func isSuccess(
    _ fetch: HistoryFetch<Key>, _ key: Key, after time: Int, before other: Int
  ) -> Bool {
    guard fetch.key == key, let ended = fetch.ended, ended > time, ended < other else {
      return fetch.key == key && fetch.ended == nil && fetch.asked < other
        && sends(fetch, after: time)
    }
    return !isWritten(key, after: fetch.asked, before: ended)
  }

  private func sends(_ fetch: HistoryFetch<Key>, after time: Int) -> Bool {
    content.makings.values.contains { making in
      guard case .fetch(let number) = making.maker else { return false }
      return making.time > time && content.fetches[number].asked == fetch.asked
        && !isWritten(fetch.key, after: fetch.asked, before: making.time)
    }
  }
}
