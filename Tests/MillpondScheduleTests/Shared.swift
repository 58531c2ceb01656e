import MillpondCore
import MillpondSignals

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
      let run = Run(key, value, observer, lifetime)
      runs.append(run)
      most = max(most, runningCount)
      lifetime.onEnd { run.observer = nil }
    }
  }

  /// Answers the gets that are under way: with their values, or with an error.
  func answer(_ error: (any Error)? = nil) {
    for run in runs {
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
      pause.withLock { _ in }
      switch event {
      case .next(let value): values.append(value)
      case .failed(let error): end = .failed(error)
      case .completed: end = .completed
      case .progress: break
      }
      isInside = false
    }
  }

  /// Leaves; no event may follow, unless one is being delivered.
  func leave() {
    handle?.dispose()
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
