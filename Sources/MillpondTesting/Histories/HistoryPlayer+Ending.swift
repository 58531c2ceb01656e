import MillpondCore
import MillpondSignals

// The end of a step, of a life, and of a program.
extension HistoryPlayer {
  /// Writes down what the states show now.
  ///
  /// - Parameter areSettled: Whether they had their time: then one that has shown nothing yet is one that
  ///   shows that there is nothing.
  func lookAtStates(areSettled: Bool = false) {
    for (key, recorder) in watches.withLock({ $0 }) {
      guard let shown = recorder.values.last ?? (areSettled ? .some(nil) : nil) else { continue }
      let number = begin(
        "the state of \(key)", key, HistoryQuestion(freshness: .cachedOnly), isState: true)
      log.change { content in
        let time = content.tick()
        content.views[number].isSettled = areSettled
        if let shown { content.views[number].values.append((shown, time, content.now())) }
        content.views[number].ended = time
      }
    }
  }

  /// Asks for all that is kept, by every entrance.
  private func sweep(_ name: String) async {
    log.say(name)
    for round in 1...10 {
      await look()
      if await settleStates(within: round < 10 ? lastPatience / 10 : lastPatience) { break }
    }
    lookAtStates(areSettled: true)
  }

  private func look() async {
    let count = entrances.withLock { $0.count }
    await run([
      { [self] in
        for entrance in 0..<count {
          for number in 0..<Self.keyCount {
            get(
              HistoryQuestion(key: number, freshness: .cachedOnly, entrance: entrance),
              name: "look")
          }
        }
      }
    ])
    await settleAtLast()
  }

  /// Waits until the states show what was found; false if they don't.
  ///
  /// It may take them a moment, since what is kept below memory is read first; and what was found may
  /// not be all that will be kept, since fills may be on their way.
  private func settleStates(within patience: Duration) async -> Bool {
    let (watches, parts) = (watches.withLock { $0 }, scene.parts.withLock { $0 })
    if parts.goesOn { return true }
    return await log.wait(atMost: patience) { content in
      watches.allSatisfy { key, recorder in
        let look = content.views.last { !$0.isState && $0.key == key && $0.entrance == 0 }
        let (shown, found) = (recorder.values.last ?? nil, look?.values.last?.value)
        return shown == found || found == nil && parts.isOver(shown, at: content.now(), content)
      }
    }
  }

  /// Waits until nothing goes on but what waits for the program.
  func settle() async {
    await settle(by: patience)
  }

  /// Waits when nothing waits for the program any more: what is slow gets its time then, whatever was
  /// waited for in vain before.
  private func settleAtLast() async {
    await settle(by: Locked(lastPatience))
  }

  private func settle(by patience: Locked<Duration>) async {
    let goesOn = scene.parts.withLock { $0.goesOn }
    let isSettled: @Sendable (HistoryLog<Key, Value>.Content) -> Bool = { content in
      if content.writes.contains(where: { $0.ended == nil }) { return false }
      return content.views.allSatisfy {
        !$0.isOpen || goesOn && !$0.values.isEmpty || content.waitsForProgram($0)
      }
    }
    // A closure gets to the gate only after the step that started it. To wait for one that is held would
    // be in vain, and leave no patience for what is slow.
    let isHeldOrSettled = { @Sendable [gate = scene.gate] content in
      gate.count > 0 || isSettled(content)
    }
    await wait(patience, atMost: .seconds(1), until: isHeldOrSettled)
    if scene.gate.count > 0 { await wait(grace, atMost: .milliseconds(1), until: isSettled) }
  }

  /// Waits for as long as there is patience, which is less afterwards if that was in vain.
  private func wait(
    _ patience: Locked<Duration>, atMost limit: Duration,
    until isDone: @escaping @Sendable (HistoryLog<Key, Value>.Content) -> Bool
  ) async {
    let limit = min(patience.withLock { $0 }, limit)
    if await !log.wait(atMost: limit, until: isDone) {
      patience.withLock { $0 = max(.zero, $0 - limit) }
    }
  }

  func reopen() async {
    let closings = scene.parts.withLock { $0.closings }
    guard !closings.isEmpty else { return }
    await leaveAll()
    log.say("closed and opened again")
    await restart(closings)
  }

  /// Performs steps while the process dies, and starts another one.
  func kill(_ calls: Int, during steps: [HistoryStep]) async {
    let (deaths, closings) = scene.parts.withLock { ($0.deaths, $0.closings) }
    guard !deaths.isEmpty else { return await perform(steps) }
    log.say("the process is to die after \(calls) calls")
    for death in deaths { death.arm(calls) }
    await perform(steps)
    for death in deaths { await death.die() }
    log.change { content in
      content.lines.append("killed, and started again")
      content.deaths.append(content.tick())
    }
    await leaveAll()
    await restart(closings)
  }

  /// Lets everybody leave, and everything be written: what is written after a closing is lost, by right.
  private func leaveAll() async {
    await openGate()
    let open = log.content.views.indices.filter { log.content.views[$0].isOpen }
    await run([{ [self] in for number in open { leave(view: number) } }])
    await settleAtLast()
  }

  private func restart(_ closings: [@Sendable () -> Signal<Void>]) async {
    for recorder in watches.withLock({ $0.values.map { $0 } }) { recorder.dispose() }
    entrances.withLock { $0 = [] }
    await close(closings)
    lookForTraces()
    await run([{ self.compose() }])
  }

  /// Notes which of the values that have been erased are in files.
  private func lookForTraces() {
    guard let look = scene.parts.withLock({ $0.traces }) else { return }
    let isLeft = look()
    let content = log.content
    for (value, making) in content.makings {
      guard let erasure = content.erasure(after: making), isLeft(value) else { continue }
      let finding = "\(value) is in a file, though it is from before “\(erasure.name)”"
      log.change { $0.traces.append(finding) }
    }
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
  func finish() async {
    await openGate()
    let patience = Locked(lastPatience)
    await settle(by: patience)
    if scene.seed.isMultiple(of: 2) {
      log.say("everybody leaves")
      await run([{ [self] in for number in openViews { leave(view: number) } }])
    } else {
      log.say("the origin answers everything")
      for _ in 0..<100 {
        guard let run = await nextRun() else { break }
        await self.run([{ [self] in scene.origin.send(run, ends: true) }])
        await settle(by: patience)
      }
    }
    await run([
      { [self] in
        for run in scene.origin.runs(active: false) { scene.origin.send(run, ends: true) }
      }
    ])
    await settle(by: patience)
    await sweep("everything is looked at")
    if !scene.parts.withLock({ $0.closings.isEmpty }) {
      await reopen()
      await sweep("everything is looked at")
    }
    log.say("a day passes")
    // Timers wait longer by as much as the clock was set back.
    let lost = log.content.clockMoves.reduce(Duration.zero) { $0 - min($1.by, .zero) }
    await run([{ [self] in scene.clock.advance(by: .seconds(86_400) + lost) }])
    await settleAtLast()
  }

  /// The next run that the origin can answer; nil if no get waits for one.
  ///
  /// A fetch gets ready in its own time, on a busy machine later than there was patience for.
  private func nextRun() async -> Int? {
    let goesOn = scene.parts.withLock { $0.goesOn }
    let isServed = { @Sendable (content: HistoryLog<Key, Value>.Content) in
      content.views.allSatisfy { !$0.isOpen || goesOn && !$0.values.isEmpty }
    }
    _ = await log.wait(atMost: lastPatience * 10) { content in
      isServed(content) || content.fetches.contains { $0.isReady && $0.isActive }
    }
    return scene.origin.runs(active: true).first
  }

  /// Releases everything, and returns what was against a rule.
  func findings() async -> (steps: [String], findings: [(HistoryRule, String)]) {
    let content = log.content
    if isStuck.withLock({ $0 }) {
      return (content.lines, [(.returned, "a call waits for a lock that will never be free")])
    }
    let parts = scene.parts.withLock { $0 }
    let violations = content.views.flatMap { $0.recorder.violations.map { "\($0)" } }
    let judge = HistoryJudge(
      content, parts, violations: violations, isConcurrent: manner.usesThreads)
    let findings = judge.findings()
    for recorder in watches.withLock({ $0.values.map { $0 } }) { recorder.dispose() }
    for view in content.views { view.recorder.dispose() }
    scene.origin.close()
    await close(parts.closings)
    for action in parts.endings { action() }
    return (content.lines, findings)
  }
}
