import MillpondCore
import MillpondSignals
import MillpondTesting

// The end of a step, of a life, and of a program.
extension HistoryPlayer {
  /// Records the values that the states show now.
  ///
  /// - Parameter areSettled: Whether they have had enough time, so that a state without a value
  ///   shows that nothing is stored.
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

  /// Looks up all keys through every entry point.
  private func sweep(_ name: String) async {
    log.say(name)
    for round in 1...10 {
      await look()
      if await settleStates(within: round < 10 ? lastPatience / 10 : lastPatience) { break }
    }
    lookAtStates(areSettled: true)
  }

  private func look() async {
    let count = entryPoints.withLock { $0.count }
    await run([
      { [self] in
        for entryPoint in 0..<count {
          for number in 0..<Self.keyCount {
            get(
              HistoryQuestion(key: number, freshness: .cachedOnly, entryPoint: entryPoint),
              name: "look")
          }
        }
      }
    ])
    await settleAtLast()
  }

  /// Waits until the states show the found values; returns false if they do not.
  ///
  /// This may take a moment, since layers below memory are read first. The found values may also
  /// change, since fills may still be in progress.
  private func settleStates(within timeLimit: Duration) async -> Bool {
    let watches = watches.withLock { $0 }
    if scene.goesOn { return true }
    return await log.wait(atMost: timeLimit) { content in
      watches.allSatisfy { key, recorder in
        let look = content.views.last { !$0.isState && $0.key == key && $0.entryPoint == 0 }
        return (recorder.values.last ?? nil) == look?.values.last?.value
      }
    }
  }

  /// Waits until all work but that which waits for the program has ended.
  func settle() async {
    await settle(by: timeLimit)
  }

  /// Waits as ``settle()`` does, but with full timeLimit, after the last step of the program.
  private func settleAtLast() async {
    await settle(by: Locked(lastPatience))
  }

  private func settle(by timeLimit: Locked<Duration>) async {
    let goesOn = scene.goesOn
    let isSettled: @Sendable (HistoryLog<Key, Value>.Content) -> Bool = { content in
      if content.writes.contains(where: { $0.ended == nil }) { return false }
      return content.views.allSatisfy {
        !$0.isOpen || goesOn && !$0.values.isEmpty || content.waitsForProgram($0)
      }
    }
    // A closure reaches the gate only after the step that started it. Waiting for a held closure
    // would use up the timeLimit for slow work.
    let isHeldOrSettled = { @Sendable [gate = scene.gate] content in
      gate.count > 0 || isSettled(content)
    }
    await wait(timeLimit, atMost: .seconds(1), until: isHeldOrSettled)
    if scene.gate.count > 0 { await wait(grace, atMost: .milliseconds(1), until: isSettled) }
  }

  /// Waits while timeLimit is left, and deducts the time of a wait without a result.
  private func wait(
    _ timeLimit: Locked<Duration>, atMost limit: Duration,
    until isDone: @escaping @Sendable (HistoryLog<Key, Value>.Content) -> Bool
  ) async {
    let limit = min(timeLimit.withLock { $0 }, limit)
    if await !log.wait(atMost: limit, until: isDone) {
      timeLimit.withLock { $0 = max(.zero, $0 - limit) }
    }
  }

  func reopen() async {
    let closings = scene.closings
    guard !closings.isEmpty else { return }
    await leaveAll()
    log.say("closed and opened again")
    await restart(closings)
  }

  /// Performs steps while the process dies, and starts a new process.
  func kill(_ calls: Int, during steps: [Step]) async {
    let (deaths, closings) = (scene.deaths, scene.closings)
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

  /// Ends all gets and waits for all writes, because a write after the closing is rightly lost.
  private func leaveAll() async {
    await openGate()
    let open = log.content.views.indices.filter { log.content.views[$0].isOpen }
    await run([{ [self] in for number in open { leave(view: number) } }])
    await settleAtLast()
  }

  private func restart(_ closings: [@Sendable () -> Signal<Void>]) async {
    for recorder in watches.withLock({ $0.values.map { $0 } }) { recorder.dispose() }
    entryPoints.withLock { $0 = [] }
    await close(closings)
    lookForTraces()
    await run([{ self.compose() }])
  }

  /// Records the erased values that are still in files.
  private func lookForTraces() {
    guard let look = scene.traces else { return }
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

  /// Ends everything, and looks at the remaining values.
  func finish() async {
    await openGate()
    let timeLimit = Locked(lastPatience)
    await settle(by: timeLimit)
    if scene.seed.isMultiple(of: 2) {
      log.say("all callers leave")
      await run([{ [self] in for number in openViews { leave(view: number) } }])
    } else {
      log.say("the origin answers everything")
      for _ in 0..<100 {
        guard let run = await nextRun() else { break }
        await self.run([{ [self] in scene.origin.send(run, ends: true) }])
        await settle(by: timeLimit)
      }
    }
    await run([
      { [self] in
        for run in scene.origin.runs(active: false) { scene.origin.send(run, ends: true) }
      }
    ])
    await settle(by: timeLimit)
    await sweep("all keys are looked up")
    if !scene.closings.isEmpty {
      await reopen()
      await sweep("all keys are looked up")
    }
    log.say("a day passes")
    // Timers take longer by as much as the clock was set back.
    let lost = log.content.clockMoves.reduce(Duration.zero) { $0 - min($1.by, .zero) }
    await run([{ [self] in scene.clock.advance(by: .seconds(86_400) + lost) }])
    await settleAtLast()
  }

  /// Returns the next run that the origin can answer; nil if no get waits for one.
  ///
  /// On a busy machine, a fetch may become ready later than the timeLimit of a step allows.
  private func nextRun() async -> Int? {
    let goesOn = scene.goesOn
    let isServed = { @Sendable (content: HistoryLog<Key, Value>.Content) in
      content.views.allSatisfy { !$0.isOpen || goesOn && !$0.values.isEmpty }
    }
    _ = await log.wait(atMost: lastPatience * 10) { content in
      isServed(content) || content.fetches.contains { $0.isReady && $0.isActive }
    }
    return scene.origin.runs(active: true).first
  }

  /// Releases everything, and returns the steps and the findings.
  func findings() async -> (steps: [String], findings: [(HistoryRule, String)]) {
    // A get may end on another thread a moment before its fetch is cancelled there.
    _ = await log.wait(atMost: lastPatience) { $0.abandonedFetches.isEmpty }
    let content = log.content
    if isStuck.withLock({ $0 }) {
      return (content.lines, [(.returned, "a call waits for a lock that will never be free")])
    }
    let features = scene.features.withLock { $0 }
    let violations = content.views.flatMap { $0.recorder.violations.map { "\($0)" } }
    let judge = HistoryJudge(
      content, features, violations: violations, isConcurrent: mode.usesThreads)
    let findings = judge.findings()
    for recorder in watches.withLock({ $0.values.map { $0 } }) { recorder.dispose() }
    for view in content.views { view.recorder.dispose() }
    scene.origin.close()
    await close(features.closings)
    for action in features.endings { action() }
    return (content.lines, findings)
  }
}
