import MillpondCore
import MillpondSignals
import MillpondTesting

/// An origin with one value for all keys, whose version is its validator, which notes the versions
/// that it was asked about.
final class VersionedOrigin: Sendable {
  private struct State: Sendable {
    var version = 1
    var timeToLive: TimeToLive?
    var asked: [String?] = []
    var isHeld = false
  }

  private let state = Locked(State())

  /// Answers the gets that are held, at each event.
  let answers = TestSource<Void>()

  var version: Int {
    get { state.withLock { $0.version } }
    set { state.withLock { $0.version = newValue } }
  }

  var timeToLive: TimeToLive? {
    get { state.withLock { $0.timeToLive } }
    set { state.withLock { $0.timeToLive = newValue } }
  }

  /// The tags that the gets asked about, in order; nil for a get that needed a value.
  var asked: [String?] { state.withLock { $0.asked } }

  /// Holds the answers of all gets from now on.
  func hold() { state.withLock { $0.isHeld = true } }

  func answer() {
    answers.next(())
    answers.completed()
  }

  var source: FunctionSource<String, Int> {
    FunctionSource.validating(signal: { _, known in
      let isHeld = self.state.withLock { state in
        state.asked.append(known.map { $0.entityTag ?? "" })
        return state.isHeld
      }
      let answer = Signal<Answer<Int>>.deferred { .just(self.answer(known)) }
      return isHeld ? self.answers.signal.take(1).flatMap { answer } : answer
    })
  }

  private func answer(_ known: Validator?) -> Answer<Int> {
    state.withLock { state in
      let current = Validator(entityTag: "\(state.version)")
      if known == current { return .notModified(timeToLive: state.timeToLive) }
      return .value(
        Stamped(state.version, validator: current, timeToLive: state.timeToLive))
    }
  }
}

/// A memory over an origin, with a clock.
struct RevalidationScene {
  let clock = ManualClock()
  let origin = VersionedOrigin()
  let memory: MemoryCache<String, Int>

  init(timeToLive: TimeToLive = .forever) {
    memory = MemoryCache(countLimit: 100, timeToLive: timeToLive, clock: clock)
  }

  var cache: Layered<MemoryCache<String, Int>, FunctionSource<String, Int>> {
    memory.layered(over: origin.source)
  }

  static let atMostTen = Lookup(freshness: .atMost(.seconds(10)))
}

extension Source where Key == String {
  /// Gets "a" now.
  func ask(_ lookup: Lookup = Lookup()) -> Recorder<Stamped<Value>> {
    Recorder().subscribe(to: getStamped("a", lookup))
  }
}

extension Source {
  /// The stored value of which an origin would be asked.
  func confirmable(_ key: Key) -> Stamped<Value>? {
    let answers = Recorder<Answer<Value>>().subscribe(to: answers(key, Lookup(freshness: .reload)))
    return answers.values.compactMap { if case .stale(let stamped) = $0 { stamped } else { nil } }
      .last
  }
}
