import MillpondCore
import MillpondSignals
import MillpondTesting

/// A judge of the observations in a history, by the order of the calls.
///
/// It is a small sequential reference. It allows a value if some order of the calls explains it,
/// where a call that returned before another began comes first.
struct HistoryJudge<Key: Hashable & Sendable, Value: Hashable & Sendable> {
  typealias Content = HistoryLog<Key, Value>.Content
  typealias View = HistoryView<Key, Value>
  typealias Write = HistoryWrite<Key, Value>

  private let content: Content
  private let features: HistoryFeatures<Key, Value>
  private let violations: [String]

  private var expiry: HistoryExpiry<Key, Value>? {
    features.life.map { HistoryExpiry(content, $0) }
  }

  /// Whether steps ran concurrently, so that the order of some events is unknown.
  private let isConcurrent: Bool

  init(
    _ content: Content, _ features: HistoryFeatures<Key, Value>, violations: [String],
    isConcurrent: Bool
  ) {
    self.isConcurrent = isConcurrent
    self.content = content
    self.features = features
    self.violations = violations
  }

  /// Returns the first finding of each rule.
  func findings() -> [(HistoryRule, String)] {
    var found: [HistoryRule: String] = [:]
    func note(_ rule: HistoryRule, _ finding: String?) {
      if let finding, found[rule] == nil { found[rule] = finding }
    }
    for (number, view) in content.views.enumerated() where isShown(number) {
      for (value, _, _) in view.values { judge(value, in: view, note) }
      if features.mayForget == false { note(.kept, lost(view)) }
      if !isConcurrent, !features.isUnchecked, !features.mayDeliverMeanwhile, let left = view.left,
        let call = view.lastCall, call > left
      {
        note(.silent, "a closure of \(view.name) ran after its disposal had returned")
      }
      if view.isOpen, !features.goesOn { note(.ended, "\(view.name) never ended") }
    }
    note(.counted, miscounted())
    note(.erased, content.traces.first)
    if let expiry, !isConcurrent {
      for view in content.views where !view.isState { note(.usable, expiry.overdue(view)) }
    }
    for number in content.views.indices { note(.shown, difference(number)) }
    for write in content.writes where write.ended == nil {
      note(.ended, "\(write.name) never had an outcome")
    }
    for violation in violations { note(.ended, violation) }
    for fetch in content.abandonedFetches {
      note(.abandoned, "\(fetch.name) was never cancelled, though no get waited for it any more")
    }
    return HistoryRule.allCases.compactMap { rule in found[rule].map { (rule, $0) } }
  }

  // MARK: A value

  /// Returns whether a view counts.
  ///
  /// A thread that notifies observers may still be running when another thread's write has
  /// returned. So the value of an unsettled state counts only if the next look shows it, too.
  private func isShown(_ number: Int) -> Bool {
    let view = content.views[number]
    let isElsewhere = isConcurrent || features.takesTime || features.usesTasks
    guard view.isState, isElsewhere, !view.isSettled else { return true }
    let next = content.views[(number + 1)...].first { $0.isState && $0.key == view.key }
    return next?.values.last?.value == view.values.last?.value
  }

  private func judge(
    _ value: Value, in view: View, _ note: (HistoryRule, String?) -> Void
  ) {
    guard let making = content.makings[value] else {
      return note(.made, "\(view.name) gave \(value), which neither a write nor a fetch made")
    }
    switch making.maker {
    case .write(let number):
      let write = content.writes[number]
      if !write.concerns(view.key) {
        note(.made, "\(view.name) gave \(value), which was set for another key")
      }
      guard let returned = write.returned, let later = replacement(after: returned, view) else {
        return
      }
      note(.current, "\(view.name) gave \(value), though “\(later.name)” came after its set")
    case .fetch(let number):
      let fetch = content.fetches[number]
      if fetch.key != view.key {
        note(.made, "\(view.name) gave \(value), which was fetched for another key")
      }
      if let end = fetch.cancelled ?? fetch.over, making.time > end {
        let what = fetch.cancelled == nil ? "ended" : "was cancelled"
        note(.cancelled, "\(view.name) gave \(value), which \(fetch.name) sent after it \(what)")
      }
      if let end = end(after: view, before: fetch.asked), !view.isState {
        note(
          .parted, "\(view.name) gave \(value), which \(fetch.name) asked for after “\(end.name)”")
      }
      if let later = replacement(after: fetch.asked, view) {
        note(
          .current, "\(view.name) gave \(value), though “\(later.name)” came after \(fetch.name)")
      }
    }
  }

  /// Returns an end of the scope after a get was made and before the origin was asked.
  private func end(after view: View, before asked: Int) -> Write? {
    content.writes.first { write in
      guard case .endScope = write.kind, let returned = write.returned else { return false }
      // Until its call returns, the get may belong to the time after the end.
      return view.returned ?? .max < write.began && returned < asked
    }
  }

  /// Returns a write after `time` that replaced the value of the key before `view` began.
  private func replacement(after time: Int, _ view: View) -> Write? {
    content.writes.first { write in
      guard write.concerns(view.key), !write.isFailed, write.began > time,
        let visible = visible(write, by: view)
      else { return false }
      return visible < view.began
    }
  }

  /// Returns the time at which a write is visible: on return through its own entry point, with its
  /// outcome through others.
  private func visible(_ write: Write, by view: View) -> Int? {
    write.entryPoint == view.entryPoint ? write.returned : write.ended
  }

  // MARK: Counting

  /// Returns a finding if the number of counted gets differs from the number made.
  private func miscounted() -> String? {
    guard let counted = features.questions?() else { return nil }
    let asked = content.views.count { !$0.isState && $0.freshness != .reload }
    if asked == counted { return nil }
    return "\(asked) gets were counted as \(counted) hits and misses"
  }

  // MARK: No value

  /// Returns a finding for a set that must be found and is not.
  private func lost(_ view: View) -> String? {
    guard let ended = view.ended, !view.isFailed, !view.isState, isSatisfiedByAll(view),
      !content.deaths.contains(where: { view.began < $0 && $0 < ended })
    else { return nil }
    if let first = view.values.first, !isFetched(first.value, after: view.began) { return nil }
    let set = content.writes.last { write in
      guard write.isSet, write.concerns(view.key), !write.isFailed,
        let visible = visible(write, by: view), visible < view.began, let returned = write.returned,
        expiry?.lasts(since: write.began, until: ended) ?? true
      else { return false }
      return !content.writes.contains { other in
        if other.isSet && !other.isFailed { return false }
        let isBefore = other.returned.map { $0 < write.began } ?? false
        return other.concerns(view.key) && other.began < ended && !isBefore && returned >= 0
      }
    }
    guard let set else { return nil }
    let answer = view.values.first.map { "had to fetch \($0.value)" } ?? "found nothing"
    return "\(view.name) \(answer), though “\(set.name)” had succeeded"
  }

  private func isFetched(_ value: Value, after time: Int) -> Bool {
    guard case .fetch(let number)? = content.makings[value]?.maker else { return false }
    // A get that accepts any value may join a reload, but starts none.
    return content.fetches[number].asked > time && !content.fetches[number].isReload
  }

  /// Returns whether the get accepts any stored value.
  private func isSatisfiedByAll(_ view: View) -> Bool {
    switch view.freshness {
    case .any, .cachedOnly: true
    case .atMost, .reload: false
    }
  }

  /// Returns a finding for a state that shows another value than the look before it found.
  private func difference(_ number: Int) -> String? {
    let state = content.views[number]
    guard state.isState, !features.goesOn, state.isSettled || !features.takesTime,
      let look = content.views[..<number].last(where: {
        !$0.isState && $0.key == state.key && $0.entryPoint == 0
      }), look.freshness == .cachedOnly, !look.isFailed,
      // A look that ends later says nothing about the state shown before its end.
      let ended = look.ended, ended < state.began,
      !content.writes.contains(where: { ($0.ended ?? .max) > look.began }),
      !content.makings.values.contains(where: { $0.time > look.began })
    else { return nil }
    let (shown, found) = (state.values.last?.value, look.values.last?.value)
    // A state may be slow to show its first value, until it is settled; a value that it shows must
    // be right at any time.
    if shown == nil && !state.isSettled || shown == found { return nil }
    if shown.map({ isInDoubt($0, state.key) }) ?? false { return nil }
    let words = [shown, found].map { $0.map { "\($0)" } ?? "nothing" }
    return "\(state.name) showed \(words[0]), though \(look.name) found \(words[1])"
  }

  /// Returns whether a write of the key overlapped both the get of a fetched value and the question
  /// to the origin.
  ///
  /// Neither comes first: a layer that the write has reached keeps the fetched value, and one that
  /// it reaches later, as after a slow encoder, refuses it. If the first layer evicts the value,
  /// the write reappears. A get waits for a write whose call returned before it.
  private func isInDoubt(_ value: Value, _ key: Key) -> Bool {
    guard case .fetch(let number)? = content.makings[value]?.maker else { return false }
    let asked = content.fetches[number].asked
    let gets = content.views.filter {
      !$0.isState && $0.key == key && $0.began < asked && $0.ended ?? .max > asked
    }
    return content.writes.contains { write in
      write.concerns(key) && write.began < asked && write.ended ?? .max > asked
        && gets.contains { write.returned ?? .max > $0.began }
    }
  }
}
