import MillpondCore
import MillpondSignals
import Synchronization

/// A variable of a program, without points: one of its threads runs at a time.
final class Shared<Value>: @unchecked Sendable {
  var value: Value

  init(_ value: Value) {
    self.value = value
  }
}

/// An origin whose answers the program sends.
final class ProgramOrigin: Source, @unchecked Sendable {
  /// A get of the origin.
  final class Run: @unchecked Sendable {
    let key: String
    let value: Int
    let lifetime: Lifetime
    var observer: Observer<Int>?

    init(_ key: String, _ value: Int, _ observer: Observer<Int>, _ lifetime: Lifetime) {
      self.key = key
      self.value = value
      self.observer = observer
      self.lifetime = lifetime
    }

    var isRunning: Bool { observer != nil && !lifetime.isEnded }
  }

  /// The value of the next answer.
  var value: Int
  private(set) var runs: [Run] = []

  /// The greatest number of runs at a time.
  private(set) var most = 0

  init(_ value: Int = 1) {
    self.value = value
  }

  /// The number of runs that are neither answered nor cancelled.
  var runningCount: Int { runs.count { $0.isRunning } }

  func get(_ key: String, _ lookup: Lookup) -> Signal<Int> {
    Signal { [self] observer, lifetime in
      countWork()
      let run = Run(key, value, observer, lifetime)
      runs.append(run)
      most = max(most, runningCount)
      lifetime.onEnd { run.observer = nil }
    }
  }

  /// Answers the gets that are under way, of all keys or of one: with their values, or with an error.
  func answer(_ error: (any Error)? = nil, of key: String? = nil) {
    for run in runs where key == nil || run.key == key {
      guard let observer = run.observer else { continue }
      run.observer = nil
      if let error {
        observer.failed(error)
      } else {
        observer.next(run.value)
        observer.completed()
      }
    }
  }
}

/// The deliveries and the gets of an origin that each thread has made; without points.
private let workCounts = Mutex<[UInt: Int]>([:])

private func countWork() {
  workCounts.withLock { $0[threadMark(), default: 0] += 1 }
}

/// The work that this thread has done.
private var workCount: Int {
  workCounts.withLock { $0[threadMark(), default: 0] }
}

/// A store of one value in closures, which others may interrupt, and whose changes may end later.
final class SlowStore: @unchecked Sendable {
  private(set) var value: Int?
  private var pending: [(value: Int?, observer: Observer<Void>)] = []
  private let pause = Locked(())

  /// A cache of the value.
  ///
  /// - Parameters:
  ///   - isLate: Whether sets end later.
  ///   - removesLate: Whether removals do.
  func cache(isLate: Bool, removesLate: Bool = false) -> AnyCache<String, Int> {
    let remove = { @Sendable [self] in removesLate ? changeLate(to: nil) : change(to: nil) }
    return AnyCache(
      get: { [self] _ in
        .deferred { [self] in
          pause.withLock { _ in }
          return value.map { .just($0) } ?? .empty
        }
      },
      set: { [self] value, _ in isLate ? changeLate(to: value) : change(to: value) },
      remove: { _ in remove() }, removeAll: { remove() },
      removeMatching: { isRemoved in isRemoved("a") ? remove() : .just(()) })
  }

  /// Ends the changes that have begun: with success, or with an error, and without an effect.
  func finish(_ error: (any Error)? = nil) {
    let ended = pending
    pending = []
    for change in ended {
      if let error {
        change.observer.failed(error)
      } else {
        value = change.value
        change.observer.completed()
      }
    }
  }

  private func change(to value: Int?) -> Signal<Void> {
    pause.withLock { _ in }
    self.value = value
    return .just(())
  }

  private func changeLate(to value: Int?) -> Signal<Void> {
    Signal { [self] observer, _ in
      pause.withLock { _ in }
      pending.append((value, observer))
    }
  }
}

/// The failure of an origin.
struct OriginError: Error {}

/// The begins and the returns of a program's calls, in their order.
final class CallOrder: @unchecked Sendable {
  private var moment = 0
  private var spans: [String: (begin: Int, end: Int)] = [:]

  /// Makes a call.
  func call(_ name: String, _ body: () -> Void) {
    moment += 1
    let begin = moment
    spans[name] = (begin, .max)
    body()
    moment += 1
    spans[name] = (begin, moment)
  }

  /// Whether a call has returned by now.
  func hasReturned(_ name: String) -> Bool { spans[name].map { $0.end < .max } ?? false }

  /// Whether one call had returned when another began.
  func isBefore(_ one: String, _ other: String) -> Bool {
    guard let one = spans[one], let other = spans[other] else { return false }
    return one.end < other.begin
  }
}

/// A subscriber that notes what is against the grammar.
final class Witness<Value: Sendable>: @unchecked Sendable {
  private(set) var values: [Value] = []
  private(set) var progress: SignalProgress?
  private(set) var end: Event<Never>?
  private(set) var faults: [String] = []
  private var isInside = false
  private var hasLeft = false
  private var isSilent = false
  private var handle: Disposable?

  /// A point at which others may go on while the subscriber is called.
  private let pause = Locked(())

  /// Subscribes to a signal.
  func watch(_ signal: Signal<Value>) {
    handle = signal.subscribe { [self] event in
      if isInside { faults.append("two callbacks at once") }
      if end != nil { faults.append("an event after the end") }
      if isSilent { faults.append("an event after the disposal") }
      isInside = true
      countWork()
      pause.withLock { _ in }
      switch event {
      case .next(let value): values.append(value)
      case .failed(let error): end = .failed(error)
      case .completed: end = .completed
      case .progress(let latest): progress = latest
      }
      isInside = false
    }
  }

  /// Leaves; no event may follow, unless one is being delivered, and the thread works for no other.
  ///
  /// - Parameter isWatched: Whether states tell on this thread that a fetch is over.
  func leave(isWatched: Bool = false) {
    let count = workCount
    handle?.dispose()
    if workCount != count, !isWatched { faults.append("a thread that leaves works for others") }
    hasLeft = true
    if !isInside { isSilent = true }
  }

  /// Whether the signal has completed.
  var isCompleted: Bool { if case .completed? = end { true } else { false } }

  /// Whether the signal has completed after these values.
  func isCompleted(with expected: [Value]) -> Bool where Value: Equatable {
    isCompleted && values == expected
  }

  /// The values and the end.
  var summary: String { "\(values), \(end.map { "\($0)" } ?? "no end")" }

  /// The faults, and that a signal which was subscribed to has not ended although it must have.
  func complaint(mustEnd: Bool = true) -> String? {
    if let fault = faults.first { return fault }
    return mustEnd && end == nil && handle != nil && !hasLeft ? "the signal never ended" : nil
  }
}

extension MultiplexerMap<String, Int> {
  /// The complaint that there is another value in memory than in the store below; nil if not.
  func disagreement(with store: MemoryCache<String, Int>) -> String? {
    guard let above = current("a"), above != store.peek("a") else { return nil }
    return "\(above) is in memory, and \(store.peek("a").map { "\($0)" } ?? "nothing") below"
  }
}
