import MillpondCore
import MillpondSignals

/// Performs a program on a composition and writes down what happens.
final class HistoryPlayer<Key: Hashable & Sendable, Value: Hashable & Sendable>: Sendable {
  let log = HistoryLog<Key, Value>(clock: ManualClock())
  let scene: HistoryScene<Key, Value>
  private let check: HistoryCheck<Key, Value>
  private let recorders = Locked<[Int: Recorder<Value>]>([:])
  private let entrances = Locked<[AnyCache<Key, Value>]>([])
  private let watches = Locked<[Key: Recorder<Value?>]>([:])

  /// How long it may still be waited in vain, in the whole history.
  private let patience: Locked<Duration>
  private let lastPatience: Duration

  private let isConcurrent = Locked(false)

  /// The same while closures are held: what waits behind them can't be told from what is slow.
  private let grace = Locked(Duration.milliseconds(20))

  static var keyCount: Int { 3 }

  init(_ check: HistoryCheck<Key, Value>, seed: UInt64, _ patience: Duration) {
    self.check = check
    self.patience = Locked(patience / 5)
    lastPatience = patience
    scene = HistoryScene(log, seed: seed, value: check.value)
    compose()
  }

  private func compose() {
    scene.parts.withLock { $0.entrances = [] }
    scene.parts.withLock { $0.closings = [] }
    scene.parts.withLock { $0.signOuts = [] }
    let first = check.compose(scene)
    let others = scene.parts.withLock { $0.entrances }
    entrances.withLock { $0 = [first] + others }
    guard let states = scene.parts.withLock({ $0.states }) else { return }
    for number in 0..<Self.keyCount {
      let key = check.key(number)
      let recorder = Recorder<Value?>().subscribe(to: states(key)) { [log] _ in
        log.change { _ in }
      }
      watches.withLock { $0[key] = recorder }
    }
  }

  // MARK: Playing

  /// Performs all steps, and then brings everything to its end.
  func play(_ program: [HistoryStep], threads: Int) async {
    isConcurrent.withLock { $0 = threads > 1 }
    var rest = program[...]
    while !rest.isEmpty {
      let round = rest.prefix(threads)
      rest = rest.dropFirst(threads)
      if threads == 1 || round.contains(.reopen) {
        for step in round { await perform(step) }
      } else {
        await withTaskGroup { group in
          for step in round { group.addTask { await self.perform(step) } }
        }
      }
      await settle()
      lookAtStates()
    }
    await finish()
  }

  private func perform(_ step: HistoryStep) async {
    switch step {
    case .reopen: await reopen()
    default: act(step)
    }
  }

  private func act(_ step: HistoryStep) {
    switch step {
    case .get(let question): get(question)
    case .leave(let pick): leave(pick)
    case .set(let key, let entrance): set(check.key(key), entrance)
    case .remove(let key, let entrance): remove(check.key(key), entrance)
    case .removeAll(let entrance):
      write(.removeAll, "removeAll", entrance) { $0.removeAll() }
    case .refresh(let key): refresh(check.key(key))
    case .answer, .miss, .fail, .answerLate: answer(step)
    case .hold(let isClosed):
      log.say("closures \(isClosed ? "take their time" : "don't wait any more")")
      scene.gate.close(isClosed)
    case .release(let pick):
      if scene.gate.release(pick) { log.say("a closure goes on") }
    case .advance(let seconds):
      log.say("\(seconds) s pass")
      scene.clock.advance(by: .seconds(seconds))
    case .endScope: endScope()
    case .trim:
      guard let trim = scene.parts.withLock({ $0.trim }) else { return }
      log.say("trim")
      trim()
    case .flood(let count, let removes, let entrance): flood(count, removes, entrance)
    case .reopen: break
    }
  }

  private func entrance(_ pick: Int) -> (number: Int, cache: AnyCache<Key, Value>) {
    entrances.withLock { entrances in
      let number = pick % entrances.count
      return (number, entrances[number])
    }
  }

  private func get(_ question: HistoryQuestion, name: String = "get") {
    let (number, cache) = entrance(question.entrance)
    var question = question
    question.entrance = number
    let key = check.key(question.key)
    let view = begin("\(name) %% of \(key)\(question.terms)", key, question)
    let signal = cache.get(
      key, priority: question.priority, freshness: question.freshness, stale: question.stale)
    subscribe(view, to: question.takesFirst ? signal.take(1) : signal)
  }

  private func refresh(_ key: Key) {
    guard let refresh = scene.parts.withLock({ $0.refresh }) else { return }
    let view = begin("refresh %% of \(key)", key, HistoryQuestion(freshness: .reload))
    subscribe(view, to: refresh(key))
  }

  private func begin(
    _ name: String, _ key: Key, _ question: HistoryQuestion, isState: Bool = false
  ) -> Int {
    log.change { content in
      let number = content.views.count
      let name = name.replacing("%%", with: "\(number + 1)")
      if !isState, !name.hasPrefix("look") { content.lines.append(name) }
      content.views.append(
        HistoryView(
          name: name, key: key, entrance: question.entrance, question: question,
          began: content.tick(), beganAt: content.now(), isState: isState))
      return number
    }
  }

  private func subscribe(_ number: Int, to signal: Signal<Value>) {
    let recorder = Recorder<Value>()
    recorders.withLock { $0[number] = recorder }
    let watched = signal.onNext { [log] _ in
      log.change { $0.views[number].lastCall = $0.tick() }
    }
    defer { log.change { $0.views[number].returned = $0.tick() } }
    recorder.subscribe(to: watched) { [log] event in
      log.change { content in
        let time = content.tick()
        let name = content.views[number].name
        switch event {
        case .next(let value):
          content.views[number].values.append((value, time, content.now()))
          content.lines.append("     \(name) gets \(value)")
        case .progress: break
        case .failed(let error):
          content.views[number].isFailed = true
          content.views[number].ended = time
          content.lines.append("     \(name) fails: \(error)")
        case .completed:
          content.views[number].ended = time
          if content.views[number].values.isEmpty, !name.hasPrefix("look") {
            content.lines.append("     \(name) gets nothing")
          }
        }
      }
    }
  }

  private func leave(_ pick: Int) {
    let open = log.content.views.indices.filter { log.content.views[$0].isOpen }
    guard !open.isEmpty else { return }
    leave(view: open[pick % open.count])
  }

  private func leave(view number: Int) {
    log.change { content in content.lines.append("\(content.views[number].name) leaves") }
    recorders.withLock { $0[number] }?.dispose()
    log.change { $0.views[number].left = $0.tick() }
  }

  private func set(_ key: Key, _ entrance: Int) {
    let value = log.change { content in
      let value = check.value(key, content.makings.count)
      content.makings[value] = HistoryMaking(
        maker: .write(content.writes.count), time: content.tick(), at: content.now())
      return value
    }
    write(.set(key, value), "set \(key) = \(value)", entrance, of: value) {
      $0.set(value, for: key)
    }
  }

  private func remove(_ key: Key, _ entrance: Int) {
    write(.remove(key), "remove \(key)", entrance) { $0.remove(key) }
  }

  private func endScope() {
    guard scene.parts.withLock({ $0.isScoped }) else { return }
    let signOuts = scene.parts.withLock { $0.signOuts }
    write(.endScope, "the scope ends", 0) { _ in
      for signOut in signOuts { signOut() }
      return scene.scope.end()
    }
  }

  private func flood(_ count: Int, _ removes: Bool, _ pick: Int) {
    let (_, cache) = entrance(pick)
    log.say("\(count) \(removes ? "removals" : "sets") of other keys")
    for number in 0..<count {
      let key = check.key(1_000 + number)
      if removes { cache.remove(key) } else { cache.set(check.value(key, -1 - number), for: key) }
    }
  }

  private func write(
    _ kind: HistoryWrite<Key, Value>.Kind, _ name: String, _ pick: Int, of value: Value? = nil,
    _ act: (AnyCache<Key, Value>) -> Signal<Void>
  ) {
    let (place, cache) = entrance(pick)
    let number = log.change { content in
      let name = name + (place == 0 ? "" : ", entrance \(place)")
      content.lines.append(name)
      content.writes.append(
        HistoryWrite(kind: kind, name: name, entrance: place, began: content.tick()))
      if let value, let making = content.makings[value] {
        content.makings[value] = HistoryMaking(
          maker: .write(content.writes.count - 1), time: making.time, at: making.at)
      }
      return content.writes.count - 1
    }
    let outcome = act(cache)
    log.change { $0.writes[number].returned = $0.tick() }
    outcome.subscribe { [log] event in
      guard event.isTerminal else { return }
      log.change { content in
        content.writes[number].ended = content.tick()
        if case .failed(let error) = event {
          content.writes[number].isFailed = true
          content.lines.append("     \(content.writes[number].name) fails: \(error)")
        }
      }
    }
  }

  private func answer(_ step: HistoryStep) {
    let isLate = if case .answerLate = step { true } else { false }
    let runs = scene.origin.runs(active: !isLate)
    guard !runs.isEmpty else { return }
    switch step {
    case .answer(let pick, let ends):
      act("the origin answers") { scene.origin.send(runs[pick % runs.count], ends: ends) }
    case .answerLate(let pick):
      act("the origin answers late") { scene.origin.send(runs[pick % runs.count], ends: true) }
    case .miss(let pick):
      act("the origin misses") { scene.origin.miss(runs[pick % runs.count]) }
    case .fail(let pick, let isNamed):
      act("the origin fails") { scene.origin.fail(runs[pick % runs.count], isNamed: isNamed) }
    default: break
    }
  }

  private func act(_ line: String, _ body: () -> Void) {
    log.say(line)
    body()
  }

  // MARK: Looking

  /// Writes down what the states show now.
  private func lookAtStates() {
    for (key, recorder) in watches.withLock({ $0 }) {
      guard case .some(let shown) = recorder.values.last else { continue }
      let number = begin(
        "the state of \(key)", key, HistoryQuestion(freshness: .cachedOnly), isState: true)
      log.change { content in
        let time = content.tick()
        if let shown { content.views[number].values.append((shown, time, content.now())) }
        content.views[number].ended = time
      }
    }
  }

  /// Asks for all that is kept, by every entrance.
  private func sweep(_ name: String) async {
    log.say(name)
    for entrance in 0..<entrances.withLock({ $0.count }) {
      for number in 0..<Self.keyCount {
        get(
          HistoryQuestion(key: number, freshness: .cachedOnly, entrance: entrance), name: "look")
      }
    }
    await settle()
    await settleStates()
    lookAtStates()
  }

  /// Waits until the states show what was found, which may take them a moment.
  private func settleStates() async {
    let watches = watches.withLock { $0 }
    _ = await log.wait(atMost: lastPatience / 5) { content in
      watches.allSatisfy { key, recorder in
        let look = content.views.last { !$0.isState && $0.key == key && $0.entrance == 0 }
        return recorder.values.last.map { $0 == look?.values.last?.value } ?? true
      }
    }
  }

  // MARK: Waiting

  /// Waits until nothing goes on but what waits for the program.
  private func settle() async {
    let goesOn = scene.parts.withLock { $0.goesOn }
    let isHeld = scene.gate.count > 0
    let patience = isHeld ? grace : patience
    let limit = min(patience.withLock { $0 }, isHeld ? .milliseconds(1) : .seconds(1))
    let isSettled: @Sendable (HistoryLog<Key, Value>.Content) -> Bool = { content in
      if content.writes.contains(where: { $0.ended == nil }) { return false }
      let active = Set(content.fetches.filter { $0.isActive && $0.isReady }.map(\.key))
      return content.views.allSatisfy {
        !$0.isOpen || active.contains($0.key) || goesOn && !$0.values.isEmpty
      }
    }
    if await !log.wait(atMost: limit, until: isSettled) {
      patience.withLock { $0 = max(.zero, $0 - limit) }
    }
  }

  private func reopen() async {
    let closings = scene.parts.withLock { $0.closings }
    guard !closings.isEmpty else { return }
    await openGate()
    for number in log.content.views.indices where log.content.views[number].isOpen {
      leave(view: number)
    }
    log.say("closed and opened again")
    for recorder in watches.withLock({ $0.values.map { $0 } }) { recorder.dispose() }
    entrances.withLock { $0 = [] }
    await close(closings)
    compose()
  }

  private func close(_ closings: [@Sendable () -> Signal<Void>]) async {
    for close in closings {
      let closed = Recorder<Void>().subscribe(to: close())
      _ = try? await closed.ended()
    }
  }

  private func openGate() async {
    scene.gate.close(false)
    while scene.gate.release(0) { await settle() }
    await settle()
  }

  /// Brings everything to its end, and looks at what is left.
  private func finish() async {
    await openGate()
    if scene.seed.isMultiple(of: 2) {
      log.say("everybody leaves")
      for number in log.content.views.indices where log.content.views[number].isOpen {
        leave(view: number)
      }
    } else {
      log.say("the origin answers everything")
      for _ in 0..<100 {
        guard let run = scene.origin.runs(active: true).first else { break }
        scene.origin.send(run, ends: true)
        await settle()
      }
    }
    for run in scene.origin.runs(active: false) { scene.origin.send(run, ends: true) }
    await settle()
    await sweep("everything is looked at")
    if !scene.parts.withLock({ $0.closings.isEmpty }) {
      await reopen()
      await sweep("everything is looked at")
    }
    log.say("a day passes")
    scene.clock.advance(by: .seconds(86_400))
    patience.withLock { $0 = lastPatience }
    await settle()
  }

  /// Releases everything, and returns what was against a rule.
  func findings() async -> (steps: [String], findings: [(HistoryRule, String)]) {
    let content = log.content
    let parts = scene.parts.withLock { $0 }
    let violations = recorders.withLock { $0 }.values.flatMap { $0.violations.map { "\($0)" } }
    let judge = HistoryJudge(
      content, parts, violations: violations, isConcurrent: isConcurrent.withLock { $0 })
    let findings = judge.findings()
    for recorder in watches.withLock({ $0.values.map { $0 } }) { recorder.dispose() }
    for recorder in recorders.withLock({ $0.values.map { $0 } }) { recorder.dispose() }
    scene.origin.close()
    await close(parts.closings)
    for action in parts.endings { action() }
    return (content.lines, findings)
  }
}
