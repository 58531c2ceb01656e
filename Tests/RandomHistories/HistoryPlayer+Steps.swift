import MillpondCore
import MillpondSignals
import MillpondTesting

// The steps of a program.
extension HistoryPlayer {
  private func entryPoint(_ pick: Int) -> (number: Int, cache: AnyCache<Key, Value>) {
    entryPoints.withLock { entryPoints in
      let number = pick % entryPoints.count
      return (number, entryPoints[number])
    }
  }

  func get(_ question: HistoryQuestion, name: String = "get") {
    let (number, cache) = entryPoint(question.entryPoint)
    var question = question
    question.entryPoint = number
    let key = subject.key(question.key)
    let view = begin("\(name) %% of \(key)\(question.terms)", key, question)
    let signal = cache.get(
      key, priority: question.priority, freshness: question.freshness)
    subscribe(view, to: signal)
  }

  func refresh(_ key: Key) {
    guard let refresh = scene.refresh else { return }
    let view = begin("refresh %% of \(key)", key, HistoryQuestion(freshness: .reload))
    subscribe(view, to: refresh(key))
  }

  /// Begins a view, and returns its number.
  ///
  /// - Parameter fetch: The fetch that waits for the answer. Recorded in the same change, because a
  ///   step that leaves could otherwise take the view for a user's.
  func begin(
    _ name: String, _ key: Key, _ question: HistoryQuestion, for fetch: Int? = nil,
    isState: Bool = false
  ) -> Int {
    log.change { content in
      let number = content.views.count
      let name = name.replacing("%%", with: "\(number + 1)")
      if !isState, !name.hasPrefix("look") { content.lines.append(name) }
      content.views.append(
        HistoryView(
          name: name, key: key, entryPoint: question.entryPoint, question: question,
          began: content.tick(), beganAt: content.now(), fetch: fetch, isState: isState))
      if let fetch { content.fetches[fetch].waitsFor = number }
      return number
    }
  }

  func subscribe(
    _ number: Int, to signal: Signal<Value>, _ onEnd: @escaping @Sendable () -> Void = {}
  ) {
    let recorder = log.content.views[number].recorder
    let watched = signal.onNext { [self] _ in
      locked { log.change { $0.views[number].lastCall = $0.tick() } }
    }
    defer { log.change { $0.views[number].returned = $0.tick() } }
    locked {
      recorder.subscribe(to: watched) { [self] event in
        locked { receive(event, number) }
        if event.isTerminal { onEnd() }
      }
    }
  }

  private func receive(_ event: Event<Value>, _ number: Int) {
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

  /// The open gets of users, without those of fetches.
  var openViews: [Int] {
    let views = log.content.views
    return views.indices.filter { views[$0].isOpen && views[$0].fetch == nil }
  }

  func leave(_ pick: Int) {
    let open = openViews
    guard !open.isEmpty else { return }
    leave(view: open[pick % open.count])
  }

  func leave(view number: Int) {
    log.change { content in content.lines.append("\(content.views[number].name) leaves") }
    let recorder = log.content.views[number].recorder
    locked { recorder.dispose() }
    log.change { $0.views[number].left = $0.tick() }
  }

  func set(_ key: Key, _ entryPoint: Int) {
    let value = log.change { content in
      let value = subject.value(key, content.makings.count)
      content.makings[value] = HistoryMaking(
        maker: .write(content.writes.count), time: content.tick(), at: content.now())
      return value
    }
    write(.set(key, value), "set \(key) = \(value)", entryPoint, of: value) {
      $0.set(value, for: key)
    }
  }

  func remove(_ key: Key, _ entryPoint: Int) {
    write(.remove(key), "remove \(key)", entryPoint) { $0.remove(key) }
  }

  /// Removes the keys of the set bits by one predicate.
  func removeMatching(_ bits: Int, _ entryPoint: Int) {
    let numbers = (0..<Self.keyCount).filter { bits & 1 << $0 != 0 }
    let keys = Set(numbers.map { subject.key($0) })
    let names = numbers.map { "\(subject.key($0))" }.joined(separator: " and ")
    write(.removeMatching(keys), "removeAll of \(names)", entryPoint) { cache in
      cache.removeAll { key in self.locked { keys.contains(key) } }
    }
  }

  func endScope() {
    guard scene.isScoped else { return }
    write(.endScope, "the scope ends", 0) { _ in
      for signOut in scene.signOuts { signOut() }
      return scene.scope.end()
    }
  }

  func flood(_ count: Int, _ removes: Bool, _ pick: Int) {
    let (_, cache) = entryPoint(pick)
    log.say("\(count) \(removes ? "removals" : "sets") of other keys")
    for number in 0..<count {
      let key = subject.key(1_000 + number)
      locked {
        if removes {
          cache.remove(key)
        } else {
          cache.set(subject.value(key, -1 - number), for: key)
        }
      }
    }
  }

  func write(
    _ kind: HistoryWrite<Key, Value>.Kind, _ name: String, _ pick: Int, of value: Value? = nil,
    _ act: (AnyCache<Key, Value>) -> Signal<Void>
  ) {
    let (place, cache) = entryPoint(pick)
    let number = log.change { content in
      let name = name + (place == 0 ? "" : ", entryPoint \(place)")
      content.lines.append(name)
      content.writes.append(
        HistoryWrite(kind: kind, name: name, entryPoint: place, began: content.tick()))
      if let value, let making = content.makings[value] {
        content.makings[value] = HistoryMaking(
          maker: .write(content.writes.count - 1), time: making.time, at: making.at)
      }
      return content.writes.count - 1
    }
    let outcome = locked { act(cache) }
    log.change { $0.writes[number].returned = $0.tick() }
    locked {
      outcome.subscribe { [self] event in
        if event.isTerminal { locked { end(number, event) } }
      }
    }
  }

  private func end(_ number: Int, _ event: Event<Void>) {
    log.change { content in
      content.writes[number].ended = content.tick()
      guard case .failed(let error) = event else { return }
      content.writes[number].isFailed = true
      content.lines.append("     \(content.writes[number].name) fails: \(error)")
    }
  }

  /// Lets a run answer that can send, or one that could and is over.
  func answer(_ line: String, _ pick: Int, isLate: Bool = false, _ act: (Int) -> Void) {
    let runs = scene.origin.runs(active: !isLate)
    guard !runs.isEmpty else { return }
    log.say(line)
    act(runs[pick % runs.count])
  }
}

// The questions of the origin to the composition during a fetch.
extension HistoryPlayer {
  /// Makes the get of a fetch, and runs `onEnd` at its end; returns nil without an entry point.
  ///
  /// - Returns: The handle to leave.
  func ask(
    _ back: HistoryAskBack, in fetch: Int, _ onEnd: @escaping @Sendable () -> Void
  ) -> Disposable? {
    guard let cache = entryPoints.withLock({ $0.first }) else { return nil }
    let (own, name) = (log.content.fetches[fetch].key, log.content.fetches[fetch].name)
    let key = back.key.map { subject.key($0) } ?? own
    let question = HistoryQuestion(freshness: back.way == .get ? .any : .reload)
    let view = begin(
      "\(back.way) %% of \(key) by \(name)", key, question, for: back.isAwaited ? fetch : nil)
    let refresh = back.way == .refresh ? scene.refresh : nil
    let signal = refresh?(key) ?? cache.get(key, freshness: question.freshness)
    subscribe(view, to: scene.goesOn ? signal.take(1) : signal, onEnd)
    return Disposable { [self] in
      if log.content.views[view].isOpen { leave(view: view) }
    }
  }
}
