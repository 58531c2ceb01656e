import MillpondCore
import MillpondSignals

/// Judges what was seen in a history by the order of the calls.
///
/// It is a small sequential reference: a value is allowed if some order of the calls explains it in
/// which a call that returned before another began comes first.
struct HistoryJudge<Key: Hashable & Sendable, Value: Hashable & Sendable> {
  typealias Content = HistoryLog<Key, Value>.Content
  typealias View = HistoryView<Key, Value>
  typealias Write = HistoryWrite<Key, Value>

  private let content: Content
  private let parts: HistoryScene<Key, Value>.Parts
  private let violations: [String]

  private var expiry: HistoryExpiry<Key, Value>? {
    parts.life.map { HistoryExpiry(content, $0) }
  }

  /// Whether steps ran at the same time: then not everything can be told apart.
  private let isConcurrent: Bool

  init(
    _ content: Content, _ parts: HistoryScene<Key, Value>.Parts, violations: [String],
    isConcurrent: Bool
  ) {
    self.isConcurrent = isConcurrent
    self.content = content
    self.parts = parts
    self.violations = violations
  }

  /// The first finding of each rule.
  func findings() -> [(HistoryRule, String)] {
    var found: [HistoryRule: String] = [:]
    func note(_ rule: HistoryRule, _ finding: String?) {
      if let finding, found[rule] == nil { found[rule] = finding }
    }
    for (number, view) in content.views.enumerated() where isShown(number) {
      for (value, _, _) in view.values { judge(value, in: view, note) }
      if parts.mayForget == false { note(.kept, lost(view)) }
      if !isConcurrent, !parts.isUnchecked, !parts.answersElsewhere, let left = view.left,
        let call = view.lastCall, call > left
      {
        note(.silent, "a closure of \(view.name) ran after its disposal had returned")
      }
      if view.isOpen, !parts.goesOn { note(.ended, "\(view.name) never ended") }
    }
    note(.counted, miscounted())
    note(.erased, content.traces.first)
    if let policy = parts.policy, !isConcurrent {
      let freshness = HistoryFreshness(content, policy)
      for view in content.views where !view.isState {
        for (rule, finding) in freshness.findings(view) { note(rule, finding) }
      }
    }
    if let expiry, !isConcurrent {
      for view in content.views where !view.isState { note(.usable, expiry.overdue(view)) }
    }
    for number in content.views.indices { note(.shown, difference(number)) }
    for write in content.writes where write.ended == nil {
      note(.ended, "\(write.name) never had an outcome")
    }
    for violation in violations { note(.ended, violation) }
    for fetch in content.fetches where fetch.isActive && !content.isAwaited(fetch) {
      note(.abandoned, "\(fetch.name) was never cancelled, though nobody waited for it any more")
    }
    return HistoryRule.allCases.compactMap { rule in found[rule].map { (rule, $0) } }
  }

  // MARK: A value

  /// Whether what was seen was there to stay.
  ///
  /// A thread that tells observers may still be at it when another's write has returned, so what a
  /// state showed meanwhile counts only if it showed it at the next look, too.
  private func isShown(_ number: Int) -> Bool {
    let view = content.views[number]
    guard view.isState, isConcurrent || parts.takesTime, !view.isSettled else { return true }
    let next = content.views[(number + 1)...].first { $0.isState && $0.key == view.key }
    return next?.values.last?.value == view.values.last?.value
  }

  private func judge(
    _ value: Value, in view: View, _ note: (HistoryRule, String?) -> Void
  ) {
    guard let making = content.makings[value] else {
      return note(.made, "\(view.name) gave \(value), which nobody has made")
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

  /// An end of the scope after a get was made and before the origin was asked.
  private func end(after view: View, before asked: Int) -> Write? {
    content.writes.first { write in
      guard case .endScope = write.kind, let returned = write.returned else { return false }
      // While the call goes on, the get may still belong to what follows the end.
      return view.returned ?? .max < write.began && returned < asked
    }
  }

  /// A write that replaces what there was at a moment, for everybody who asks as `view` does.
  private func replacement(after time: Int, _ view: View) -> Write? {
    content.writes.first { write in
      guard write.concerns(view.key), !write.isFailed, write.began > time,
        let visible = visible(write, by: view)
      else { return false }
      return visible < view.began
    }
  }

  /// When a write is visible: by its own entrance when its call returns, by others with its outcome.
  private func visible(_ write: Write, by view: View) -> Int? {
    write.entrance == view.entrance ? write.returned : write.ended
  }

  // MARK: Counting

  /// Questions that were counted more or less often than they were asked.
  private func miscounted() -> String? {
    guard let counted = parts.questions?() else { return nil }
    let asked = content.views.count { !$0.isState && $0.freshness != .reload }
    if asked == counted { return nil }
    return "\(asked) gets were counted as \(counted) hits and misses"
  }

  // MARK: No value

  /// A set that must be found and is not.
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
    // A get that takes any value may join a reload, but begins none.
    return content.fetches[number].asked > time && !content.fetches[number].isReload
  }

  /// Whether any value that is kept will do.
  private func isSatisfiedByAll(_ view: View) -> Bool {
    switch view.freshness {
    case .any, .cachedOnly: true
    case .atMost, .reload: false
    }
  }

  /// A state that shows something else than was found just before.
  private func difference(_ number: Int) -> String? {
    let state = content.views[number]
    guard state.isState, !parts.goesOn, state.isSettled || !parts.takesTime,
      let look = content.views[..<number].last(where: {
        !$0.isState && $0.key == state.key && $0.entrance == 0
      }), look.freshness == .cachedOnly, !look.isFailed,
      // What a look finds later says nothing of what was shown before it was found.
      let ended = look.ended, ended < state.began,
      !content.writes.contains(where: { ($0.ended ?? .max) > look.began }),
      !content.makings.values.contains(where: { $0.time > look.began })
    else { return nil }
    let (shown, found) = (state.values.last?.value, look.values.last?.value)
    // A state that shows nothing yet may be slow, until it has had its time; what it shows has to be
    // right at any time.
    if shown == nil && !state.isSettled || shown == found { return nil }
    if found == nil && parts.isOver(shown, at: state.beganAt, content) { return nil }
    if shown.map({ isInDoubt($0, state.key) }) ?? false { return nil }
    let words = [shown, found].map { $0.map { "\($0)" } ?? "nothing" }
    return "\(state.name) showed \(words[0]), though \(look.name) found \(words[1])"
  }

  /// Whether a write of the key was called after the get of a fetched value and before the origin was asked
  /// for it, and was still on its way then.
  ///
  /// Neither comes first: a layer that the write has reached keeps the value, and one that it reaches later,
  /// as after an encoder that takes its time, refuses it. Where the first one evicts it, the write comes to
  /// light again. A write that was called before the get is waited for.
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
