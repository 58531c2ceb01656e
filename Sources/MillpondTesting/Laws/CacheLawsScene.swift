import MillpondCore
import MillpondSignals

/// A composition of three layers and their origins, on which a history is performed.
final class CacheLawsScene<Key: Hashable & Sendable, Value: Equatable & Sendable> {
  typealias Step = CacheLawsStep<Key, Value>
  typealias Stage =
    @Sendable (_ layers: [CacheLawsLayer<Key, Value>], _ origin: TestOrigin<Key, Value>) ->
    AnyCache<Key, Value>

  let keys: [Key]
  let values: [Value]
  let layers: [CacheLawsLayer<Key, Value>]
  let cache: AnyCache<Key, Value>

  /// The origins of the layers, in case they are compositions, and last the origin under all
  /// layers.
  let origins: [TestOrigin<Key, Value>]

  /// The gets, writes and runs of the history, and a log of its steps in words.
  private(set) var gets: [CacheLawsGet<Value>] = []
  private(set) var writes: [CacheLawsWrite] = []
  private(set) var runs: [CacheLawsRun<Value>] = []
  private(set) var makings: [CacheLawsMaking<Value>] = []
  private(set) var log: [String] = []
  private(set) var time = 0

  /// Whether nothing is written while a get waits.
  private let isRested: Bool
  private let bell: Watched<Int>

  /// The number of runs that were started, on any thread.
  private let starts: Locked<Int>

  /// The remaining time for waits without a result, in the whole history.
  private var timeLimit: Duration

  /// The remaining time for gets that wait behind others.
  private var grace = Duration.milliseconds(3)

  init(
    _ laws: CacheLaws<Key, Value>, _ timeLimit: Duration, isRested: Bool = false, _ stage: Stage
  ) {
    self.isRested = isRested
    let bell = Watched(0)
    let starts = Locked(0)
    self.bell = bell
    self.starts = starts
    self.timeLimit = timeLimit
    keys = laws.keys
    values = laws.values
    origins = (0..<4).map { _ in
      TestOrigin {
        starts.withLock { $0 += 1 }
        bell.change { $0 += 1 }
      }
    }
    layers = origins.prefix(3).map { CacheLawsLayer(laws.make($0)) }
    cache = stage(layers, origins[3])
  }

  /// Performs a step, if it applies.
  func perform(_ step: Step) {
    time += 1
    if let done = step.deed(self)(step) { log.append(done) }
    noteRuns()
  }

  /// Makes a cached-only get from `source`.
  func probe(_ source: AnyCache<Key, Value>, _ key: Int, _ name: String) {
    time += 1
    get(source, key, .cachedOnly, name)
  }

  func get(
    _ source: AnyCache<Key, Value>, _ key: Int, _ freshness: Freshness, _ name: String
  ) {
    let get = CacheLawsGet<Value>(key: key, time: time, name: name)
    gets.append(get)
    get.recorder.subscribe(to: source.get(keys[key], freshness: freshness)) { [bell] event in
      if event.isTerminal { bell.change { $0 += 1 } }
    }
  }

  func write(
    _ name: String, _ keys: Set<Int>?, _ apply: () -> Signal<Void>
  ) -> String? {
    if isRested, gets.contains(where: \.isOpen) { return nil }
    let write = CacheLawsWrite(keys: keys, time: time, name: name)
    writes.append(write)
    write.outcome.subscribe(to: apply()) { [bell] event in
      if event.isTerminal { bell.change { $0 += 1 } }
    }
    return name
  }

  /// Makes the next value, for a write or a run that began at `time`.
  func make(for key: Int, _ time: Int) -> Value {
    let value = values[makings.count % values.count]
    makings.append(CacheLawsMaking(value: value, key: key, time: time))
    return value
  }

  private func noteRuns() {
    if starts.withLock({ $0 }) == runs.count { return }
    for (place, origin) in origins.enumerated() {
      for (key, name) in keys.enumerated() {
        let known = runs.count { $0.origin == place && $0.key == key }
        for run in origin[name].runs.dropFirst(known) {
          runs.append(
            CacheLawsRun(run: run, number: runs.count + 1, origin: place, key: key, time: time))
        }
      }
    }
  }
}

extension CacheLawsScene {
  /// The runs of the origins that are still active.
  var activeRuns: [CacheLawsRun<Value>] {
    runs.filter(\.run.isActive)
  }

  /// The number of answers that the layers hold back.
  var heldCount: Int {
    layers.reduce(0) { $0 + $1.heldCount }
  }

  /// Waits until only work that the checks hold back remains.
  ///
  /// A get that waits behind another, for example for a slot, cannot be distinguished from a slow
  /// one, so the wait for it is short.
  func settle() async {
    // A run that starts meanwhile may be what the others wait for.
    if await !wait(timeLimit, until: { self.isSettled || self.isHeldBack }) { timeLimit = .zero }
    if await !wait(min(timeLimit, grace), until: { self.isSettled }) { grace = .zero }
  }

  /// Answers all held gets and runs, and waits for the end of every get.
  func finish() async {
    for layer in layers { layer.holdAnswers(false) }
    var rounds = 0
    repeat {
      for layer in layers { while layer.heldCount > 0 { layer.give(0) } }
      for run in activeRuns { run.run.completed() }
      await settle()
      rounds += 1
    } while rounds < 1_000 && (heldCount > 0 || !activeRuns.isEmpty)
  }

  /// Answers running work until none is left.
  func answerAll() async {
    await settle()
    while let run = activeRuns.first {
      if run.number.isMultiple(of: 3) {
        run.run.completed()
      } else {
        _ = send(run, ends: true)
      }
      await settle()
    }
  }

  /// Ends all open gets.
  func leaveAll() {
    for get in gets where get.isOpen { get.leave() }
  }

  /// Waits until `isDone`; returns false if timeLimit runs out.
  func wait(until isDone: () -> Bool) async -> Bool {
    await wait(timeLimit, until: isDone)
  }

  private func wait(_ timeLimit: Duration, until isDone: () -> Bool) async -> Bool {
    if isDone() { return true }
    let scheduler = Scheduler(ContinuousClock())
    let end = scheduler.now() + timeLimit
    while scheduler.now() < end, !Task.isCancelled {
      let before = bell.state
      if isDone() { return true }
      // Not every awaited change rings the bell, so look again after a millisecond.
      let alarm = scheduler.schedule(after: .milliseconds(1)) { [bell] in bell.change { $0 += 1 } }
      try? await bell.wait(for: "an event") { $0 != before }
      alarm.dispose()
    }
    return isDone()
  }

  /// Whether an answer is held back.
  private var isHeldBack: Bool { heldCount > 0 || !activeRuns.isEmpty }

  private var isSettled: Bool {
    noteRuns()
    if writes.contains(where: { $0.outcome.end == nil }) { return false }
    let open = gets.filter(\.isOpen)
    if open.isEmpty || heldCount > 0 { return true }
    let answered = Set(activeRuns.map(\.key))
    return open.allSatisfy { answered.contains($0.key) }
  }
}
