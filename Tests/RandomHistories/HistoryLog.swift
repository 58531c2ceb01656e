import MillpondCore
import MillpondSignals
import MillpondTesting

/// A write, and the times at which its call began, returned and had its outcome.
struct HistoryWrite<Key: Hashable & Sendable, Value: Hashable & Sendable>: Sendable {
  enum Kind: Sendable {
    case set(Key, Value)
    case remove(Key)
    case removeAll
    case removeMatching(Set<Key>)
    case endScope
  }

  let kind: Kind
  let name: String
  let entryPoint: Int
  let began: Int
  var returned: Int?
  var ended: Int?
  var isFailed = false

  /// Returns whether the write concerns `key`.
  func concerns(_ key: Key) -> Bool {
    switch kind {
    case .set(let own, _), .remove(let own): own == key
    case .removeMatching(let keys): keys.contains(key)
    case .removeAll, .endScope: true
    }
  }

  /// Whether no file contains an earlier value after this write has succeeded.
  var isErasure: Bool {
    switch kind {
    case .removeAll, .endScope: true
    case .set, .remove, .removeMatching: false
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

  /// Whether the run can answer yet; a task has to start first.
  var isReady = false

  /// The number of the get that this fetch made itself and waits for.
  var waitsFor: Int?
  var cancelled: Int?
  var ended: Int?

  /// The time after the origin has sent its end.
  var over: Int?

  var isActive: Bool {
    cancelled == nil && ended == nil
  }
}

/// The origin of a value.
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

/// An observation of a user: a get, or a look at a state.
struct HistoryView<Key: Hashable & Sendable, Value: Hashable & Sendable>: Sendable {
  let name: String
  let key: Key
  let entryPoint: Int
  let question: HistoryQuestion

  /// The subscriber of the get, which a step may dispose of before the subscription.
  let recorder = Recorder<Value>()
  let began: Int
  let beganAt: Duration

  /// The time at which the call of `subscribe` returned.
  var returned: Int?
  var values: [(value: Value, time: Int, at: Duration)] = []
  var ended: Int?
  var isFailed = false
  var left: Int?

  /// The fetch that waits for it.
  var fetch: Int?

  /// The time of the last call of a closure of the subscription.
  var lastCall: Int?

  /// Whether this is a look at a state, not a get.
  let isState: Bool

  /// Whether this is a state that has had enough time to show the stored value.
  var isSettled = false

  var freshness: Freshness { question.freshness }

  var isOpen: Bool {
    ended == nil && left == nil
  }
}

/// All events of a history, in one order of time.
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

    /// The times at which the process was killed.
    var deaths: [Int] = []

    /// Values found in files after their erasure.
    var traces: [String] = []

    /// Returns the clock's time.
    func now() -> Duration {
      clock.now.offset
    }

    /// Returns whether a get waits for a fetch that waits for the program, or for another get that
    /// does.
    ///
    /// - Parameters:
    ///   - view: The get.
    ///   - others: Fetches that wait for this get, and so cannot serve it.
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

    /// The fetches that run although no get waits for them.
    var abandonedFetches: [HistoryFetch<Key>] {
      fetches.filter { $0.isActive && !isAwaited($0) }
    }

    /// Returns whether a get of a user waits for a fetch, directly or through other fetches.
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

    /// Returns a write that has erased a value.
    func erasure(after making: HistoryMaking) -> HistoryWrite<Key, Value>? {
      // A value may be made before its set is called, on another thread.
      let called =
        if case .write(let number) = making.maker { writes[number].returned } else { making.time }
      guard let called else { return nil }
      return writes.last {
        $0.isErasure && $0.began > called && $0.ended != nil && !$0.isFailed
      }
    }

    /// Returns the next time.
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

  /// Waits until `isDone`; returns false if that takes too long.
  func wait(
    atMost timeLimit: Duration, until isDone: @escaping @Sendable (Content) -> Bool
  ) async -> Bool {
    if isDone(content) { return true }
    let isInTime = await happens(within: timeLimit) { [state] in
      try await state.wait(for: "an event", until: isDone)
    }
    return isInTime || isDone(content)
  }
}
