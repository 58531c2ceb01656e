import MillpondCore
import MillpondSignals

/// A write, and when its call began, returned and had its outcome.
struct HistoryWrite<Key: Hashable & Sendable, Value: Hashable & Sendable>: Sendable {
  enum Kind: Sendable {
    case set(Key, Value)
    case remove(Key)
    case removeAll
    case endScope
  }

  let kind: Kind
  let name: String
  let entrance: Int
  let began: Int
  var returned: Int?
  var ended: Int?
  var isFailed = false

  /// Whether it concerns `key`.
  func concerns(_ key: Key) -> Bool {
    switch kind {
    case .set(let own, _), .remove(let own): own == key
    case .removeAll, .endScope: true
    }
  }

  /// Whether nothing from before is in any file when it has succeeded.
  var isErasure: Bool {
    switch kind {
    case .removeAll, .endScope: true
    case .set, .remove: false
    }
  }

  var isSet: Bool {
    if case .set = kind { true } else { false }
  }
}

/// A run of the origin.
struct HistoryFetch<Key: Hashable & Sendable>: Sendable {
  let key: Key
  let name: String
  let isReload: Bool
  let asked: Int

  /// Whether it can answer yet: a task has to get there first.
  var isReady = false

  /// The view of what it asks for itself, and waits for.
  var waitsFor: Int?
  var cancelled: Int?
  var ended: Int?

  /// When the origin had told the end.
  var over: Int?

  /// The clock's time when it failed, or ended without a value.
  var failedAt: Duration?
  var isMiss = false

  var isActive: Bool {
    cancelled == nil && ended == nil
  }
}

/// Where a value came from.
struct HistoryMaking: Sendable {
  enum Maker: Sendable {
    case write(Int)
    case fetch(Int)
  }

  let maker: Maker
  let time: Int

  /// The clock's time.
  let at: Duration
}

/// A change of the clock, by time that passes or because the clock is set.
struct HistoryClockMove: Sendable {
  let time: Int
  let by: Duration
  let isSet: Bool
}

/// Something that a user saw.
struct HistoryView<Key: Hashable & Sendable, Value: Hashable & Sendable>: Sendable {
  let name: String
  let key: Key
  let entrance: Int
  let question: HistoryQuestion

  /// What subscribes to the get; whoever wants it to leave may come before the subscription.
  let recorder = Recorder<Value>()
  let began: Int
  let beganAt: Duration

  /// When the call of `subscribe` returned.
  var returned: Int?
  var values: [(value: Value, time: Int, at: Duration)] = []
  var ended: Int?
  var isFailed = false
  var left: Int?

  /// The fetch that waits for it.
  var fetch: Int?

  /// When a closure of the subscription ran last.
  var lastCall: Int?

  /// Whether it is a state that was looked at, and no get.
  let isState: Bool

  /// Whether it is a state that had its time to show what is kept.
  var isSettled = false

  var freshness: Freshness { question.freshness }

  var isOpen: Bool {
    ended == nil && left == nil
  }
}

/// All that happened in a history, in one order of time.
final class HistoryLog<Key: Hashable & Sendable, Value: Hashable & Sendable>: Sendable {
  struct Content: Sendable {
    var time = 0
    let clock: ManualClock
    var lines: [String] = []
    var writes: [HistoryWrite<Key, Value>] = []
    var fetches: [HistoryFetch<Key>] = []
    var views: [HistoryView<Key, Value>] = []
    var makings: [Value: HistoryMaking] = [:]
    var clockMoves: [HistoryClockMove] = []

    /// The moments in which the process was killed.
    var deaths: [Int] = []

    /// What was found in files that should have gone.
    var traces: [String] = []

    /// The clock's time.
    func now() -> Duration {
      clock.now.offset
    }

    /// Whether a get waits for a fetch that waits for the program, or for another get that does.
    ///
    /// - Parameter others: Fetches that wait for this get, and so can't serve it.
    func waitsForProgram(
      _ view: HistoryView<Key, Value>, others: Set<Int> = []
    ) -> Bool {
      let others = view.fetch.map { others.union([$0]) } ?? others
      return fetches.indices.contains { number in
        let fetch = fetches[number]
        guard fetch.key == view.key, fetch.isActive, !others.contains(number) else { return false }
        if fetch.isReady { return true }
        guard let next = fetch.waitsFor.map({ views[$0] }), next.isOpen else { return false }
        return waitsForProgram(next, others: others)
      }
    }

    /// Whether a get by a user waits for a fetch, or for another that waits for it, and so on.
    func isAwaited(_ fetch: HistoryFetch<Key>) -> Bool {
      var (keys, isNew) = (Set([fetch.key]), true)
      while isNew {
        let asking = views.filter { $0.isOpen && keys.contains($0.key) }
        if asking.contains(where: { $0.fetch == nil }) { return true }
        let count = keys.count
        keys.formUnion(asking.compactMap { $0.fetch.map { fetches[$0].key } })
        isNew = keys.count > count
      }
      return false
    }

    /// A write that has erased a value.
    func erasure(after making: HistoryMaking) -> HistoryWrite<Key, Value>? {
      // The call of a set may be later than the making of its value, in another thread.
      let called =
        if case .write(let number) = making.maker { writes[number].returned } else { making.time }
      guard let called else { return nil }
      return writes.last {
        $0.isErasure && $0.began > called && $0.ended != nil && !$0.isFailed
      }
    }

    /// The next moment.
    mutating func tick() -> Int {
      time += 1
      return time
    }
  }

  private let state: Watched<Content>

  init(clock: ManualClock) {
    state = Watched(Content(clock: clock))
  }

  var content: Content {
    state.state
  }

  var lines: [String] {
    content.lines
  }

  @discardableResult
  func change<Result>(_ body: (inout Content) -> Result) -> Result {
    state.change(body)
  }

  func say(_ line: String) {
    change { $0.lines.append(line) }
  }

  func moveClock(by duration: Duration, isSet: Bool) {
    change { content in
      content.clockMoves.append(
        HistoryClockMove(time: content.tick(), by: duration, isSet: isSet))
    }
  }

  /// Waits until `isDone`; false if that takes too long.
  func wait(
    atMost patience: Duration, until isDone: @escaping @Sendable (Content) -> Bool
  ) async -> Bool {
    if isDone(content) { return true }
    let timeline = Timeline(ContinuousClock())
    let isLate = Locked(false)
    let alarm = timeline.schedule(after: patience) { [state] in
      isLate.withLock { $0 = true }
      state.change { _ in }
    }
    defer { alarm.dispose() }
    try? await state.wait(for: "an event") { isDone($0) || isLate.withLock { $0 } }
    return isDone(content)
  }
}
