package import MillpondCore
package import MillpondSignals
import MillpondTesting

/// The origin of a scene, which answers when the program says so, and ignores cancellation.
///
/// By the program's choice it answers late, twice, after its end, by callbacks, or by tasks that
/// continue after cancellation.
///
/// - Note: Any thread.
package final class HistoryOrigin<Key: Hashable & Sendable, Value: Hashable & Sendable>: Source {
  /// The means by which a run sends its answers.
  enum Way: Sendable {
    case callbacks
    case tasks

    /// Sends on after the end of the run's lifetime, so that only the composition can drop late
    /// events.
    case unchecked
  }

  private let log: HistoryLog<Key, Value>
  private let ways: Locked<Way>
  private let value: @Sendable (Key, Int) -> Value
  private let sources = Locked<[Int: CallbackSource<Value>]>([:])

  /// A closure by which a fetch asks the composition; returns the handle to leave.
  typealias Asking =
    @Sendable (HistoryAskBack, _ fetch: Int, _ onEnd: @escaping @Sendable () -> Void) -> Disposable?

  private let asking = Locked<Asking?>(nil)

  /// The questions of the next fetches.
  private let askBacks = Locked<[HistoryAskBack]>([])

  init(
    _ log: HistoryLog<Key, Value>, _ way: Way, value: @escaping @Sendable (Key, Int) -> Value
  ) {
    self.log = log
    ways = Locked(way)
    self.value = value
  }

  private var way: Way {
    ways.withLock { $0 }
  }

  /// Makes later runs send late answers on, so that only the composition can refuse them.
  func sendsUnchecked() {
    ways.withLock { $0 = .unchecked }
  }

  /// Sets the closure by which fetches ask the composition.
  func asks(_ ask: @escaping Asking) {
    asking.withLock { $0 = ask }
  }

  /// Makes the next fetch ask the composition.
  func ask(_ back: HistoryAskBack) {
    askBacks.withLock { $0.append(back) }
  }

  // MARK: Runs

  /// Runs a fetch that answers when the program says so.
  package func get(_ key: Key, _ lookup: Lookup) -> Signal<Value> {
    if case .cachedOnly = lookup.freshness { return .empty }
    return Signal { observer, lifetime in
      let number = self.begin(key, isReload: lookup.freshness == .reload)
      lifetime.onEnd { self.cancel(number) }
      let back = self.askBacks.withLock { $0.isEmpty ? nil : $0.removeFirst() }
      self.answer(number, back).run(observer, lifetime)
    }
  }

  private func answer(_ number: Int, _ back: HistoryAskBack?) -> Signal<Value> {
    let source = CallbackSource<Value>()
    sources.withLock { $0[number] = source }
    switch way {
    case .callbacks, .unchecked:
      let answer = Signal<Value> { [log, way] observer, lifetime in
        source.signal.run(observer, way == .unchecked ? Lifetime() : lifetime)
        log.change { $0.fetches[number].isReady = true }
      }
      return back.map { asked($0, number).ifEmpty { answer } } ?? answer
    case .tasks:
      return .async {
        if let back { _ = try? await self.asked(back, number).valueIfAny }
        async let value = source.value()
        try? await source.subscriptions(count: 1)
        self.log.change { $0.fetches[number].isReady = true }
        return try await value
      }
    }
  }

  /// Asks the composition; completes at the end of that get if the fetch waits for it, otherwise at
  /// once.
  private func asked(_ back: HistoryAskBack, _ number: Int) -> Signal<Value> {
    Signal { observer, lifetime in
      let ask = self.asking.withLock { $0 }
      let question = ask?(back, number) { if back.isAwaited { observer.completed() } }
      if let question, back.isAwaited {
        lifetime.onEnd { question.dispose() }
      } else {
        observer.completed()
      }
    }
  }

  private func begin(_ key: Key, isReload: Bool) -> Int {
    log.change { content in
      let number = content.fetches.count
      let name = "fetch \(number + 1) of \(key)"
      content.lines.append("     \(name) begins")
      content.fetches.append(
        HistoryFetch(key: key, name: name, isReload: isReload, asked: content.tick()))
      return number
    }
  }

  private func cancel(_ number: Int) {
    log.change { content in
      guard content.fetches[number].isActive else { return }
      content.lines.append("     \(content.fetches[number].name) is cancelled")
      content.fetches[number].cancelled = content.tick()
    }
  }

  // MARK: Answering

  /// Returns the runs that can send, in order.
  func runs(active: Bool) -> [Int] {
    let content = log.content
    return content.fetches.indices.filter {
      content.fetches[$0].isReady && content.fetches[$0].isActive == active
    }
  }

  /// Sends a new value, and completes if `ends`.
  func send(_ number: Int, ends: Bool) {
    let value = log.change { content in
      let fetch = content.fetches[number]
      let value = self.value(fetch.key, content.makings.count)
      content.makings[value] = HistoryMaking(
        maker: .fetch(number), time: content.tick(), at: content.now())
      content.lines.append("     \(fetch.name) sends \(value)")
      if ends || self.way == .tasks, fetch.isActive {
        content.fetches[number].ended = content.tick()
      }
      return value
    }
    source(number)?.next(value)
    if ends {
      source(number)?.completed()
      noteOver(number)
    }
  }

  /// Ends a run without a value.
  func miss(_ number: Int) {
    end(number, "has no value")
    source(number)?.completed()
    noteOver(number)
  }

  /// Fails a run.
  ///
  /// - Parameters:
  ///   - number: The run.
  ///   - isNamed: Whether the failure is a loss of connectivity.
  func fail(_ number: Int, isNamed: Bool) {
    let trouble = HistoryError(isLossOfConnectivity: isNamed)
    end(number, "fails: \(trouble)")
    source(number)?.failed(trouble)
    noteOver(number)
  }

  /// Notes that the end has been sent; until then another thread's value may precede it.
  private func noteOver(_ number: Int) {
    log.change { content in
      if content.fetches[number].over == nil { content.fetches[number].over = content.tick() }
    }
  }

  private func end(_ number: Int, _ what: String) {
    log.change { content in
      content.lines.append("     \(content.fetches[number].name) \(what)")
      guard content.fetches[number].isActive else { return }
      content.fetches[number].ended = content.tick()
    }
  }

  private func source(_ number: Int) -> CallbackSource<Value>? {
    sources.withLock { $0[number] }
  }

  /// Releases all sources; runs that still wait are abandoned.
  func close() {
    asking.withLock { $0 = nil }
    // Released after the unlock.
    withExtendedLifetime(sources.withLock { exchange(&$0, with: [:]) }) {}
  }
}

/// The error with which the origin of a scene fails.
struct HistoryError: ConnectivityError, CustomStringConvertible {
  let isLossOfConnectivity: Bool

  var description: String { isLossOfConnectivity ? "out of reach" : "trouble in the origin" }
}
