public import MillpondSignals

/// The circuit of a source: ``CircuitState`` decides which gets are made, this class acts on it.
@usableFromInline
final class CircuitBreaker: Sendable {
  private let scheduler: Scheduler
  private let counts: @Sendable (any Error) -> Bool
  private let state: Locked<CircuitState>

  @usableFromInline
  init(
    _ count: Int, _ pause: Duration, counting counts: @escaping @Sendable (any Error) -> Bool,
    _ scheduler: Scheduler
  ) {
    self.scheduler = scheduler
    self.counts = counts
    state = Locked(CircuitState(count, pause))
  }

  /// A description of the circuit as it is now.
  @usableFromInline
  var title: String {
    let now = scheduler.now()
    return state.withLock { $0.title(at: now) }
  }

  /// The time until the next attempt; nil while the circuit is closed.
  var remaining: Duration? {
    let now = scheduler.now()
    return state.withLock { $0.remaining(at: now) }
  }

  /// Makes a get if the circuit admits it.
  ///
  /// - Parameters:
  ///   - layer: Returns the name of the source, for the error of a refused get and for events.
  ///   - lookup: The terms of the get, whose listeners hear that the circuit opens or closes.
  ///   - ask: Makes the get.
  @inlinable
  func answer<Element>(
    of layer: @escaping @Sendable () -> String, _ lookup: Lookup,
    _ ask: @escaping @Sendable () -> Signal<Element>
  ) -> Signal<Element> {
    Signal { observer, lifetime in
      switch self.enter() {
      case .refused(let remaining, let failure):
        observer.failed(
          CacheError.circuitOpen(layer: layer(), remaining: remaining, underlying: failure))
      case .passes(let pass):
        if pass.attempt != nil { lifetime.onEnd { _ = self.decide(pass, .nothing) } }
        let watching = self.watching(observer, pass, lifetime) {
          lookup.report($0, layer: layer(), key: nil)
        }
        ask().run(watching, lifetime)
      }
    }
  }

  @inlinable
  func watching<Element>(
    _ observer: Observer<Element>, _ pass: CircuitPass, _ lifetime: Lifetime,
    _ report: @escaping @Sendable (CacheEvent.Kind) -> Void
  ) -> Observer<Element> {
    let isDecided = SerialState(false)
    let decide = { @Sendable (outcome: CircuitOutcome) in
      if isDecided.value || lifetime.isEnded { return }
      isDecided.value = true
      if let change = self.decide(pass, outcome) { report(change) }
    }
    return Observer(
      next: { value in
        decide(.success)
        observer.next(value)
      },
      other: { event in
        switch event {
        case .progress: break
        case .completed: decide(.success)
        case .failed(let error): decide(self.isFailure(error) ? .failure(error) : .nothing)
        }
        observer.other(event)
      })
  }

  /// Admits or refuses a get; the clock is read only if the circuit is not closed.
  @usableFromInline
  func enter() -> CircuitAdmission {
    if let pass = state.withLock({ $0.passIfClosed }) { return .passes(pass) }
    let now = scheduler.now()
    return state.withLock { $0.enter(at: now) }
  }

  /// Records the outcome of a get; returns the event of a circuit that opens or closes by it.
  @usableFromInline
  func decide(_ pass: CircuitPass, _ outcome: CircuitOutcome) -> CacheEvent.Kind? {
    if case .success = outcome { return change { $0.succeed(pass) } }
    let now = scheduler.now()
    return change { $0.end(pass, outcome, at: now) }
  }

  private func change(
    _ body: (inout CircuitState) -> (any Error)?
  ) -> CacheEvent.Kind? {
    let (failure, event) = state.withLock { state in
      let wasOpen = state.isOpen
      let failure = body(&state)
      return (failure, wasOpen == state.isOpen ? nil : state.event)
    }
    withExtendedLifetime(failure) {}  // released here, not under the lock
    return event
  }

  @usableFromInline
  func isFailure(_ error: any Error) -> Bool {
    !error.isOfTheGet && counts(error)
  }
}

/// The permission to make a get.
@usableFromInline
struct CircuitPass: Sendable {
  /// The number of times that the circuit had opened or closed.
  let period: Int

  /// The number of the attempt; nil for a get through the closed circuit.
  @usableFromInline let attempt: Int?
}

/// The decision on a get.
@usableFromInline
enum CircuitAdmission: Sendable {
  case passes(CircuitPass)

  /// Refused for a time, because of the last failure.
  case refused(remaining: Duration, any Error)
}

/// The outcome of a get.
@usableFromInline
enum CircuitOutcome: Sendable {
  case success
  case failure(any Error)

  /// Neither a success nor a failure of the origin.
  case nothing
}

/// The failures in a row, and the time of the next attempt.
struct CircuitState: Sendable {
  private let greatest: Int
  private let pause: Duration
  private var failures = 0
  private var period = 0

  /// The number of the latest attempt, or one more if that has failed.
  private var attempt = 0

  /// The time from which a get is let through; nil while the circuit is closed.
  private var nextAttemptAt: Duration?

  /// The last failure while the circuit is open.
  private var failure: (any Error)?

  init(_ count: Int, _ pause: Duration) {
    greatest = max(1, count)
    self.pause = pause.withinCentury
  }

  var isOpen: Bool { nextAttemptAt != nil }

  /// The event of a circuit that has just come into this state.
  var event: CacheEvent.Kind { isOpen ? .circuitOpened(for: pause) : .circuitClosed }

  /// The time until the next attempt; nil while the circuit is closed.
  func remaining(at now: Duration) -> Duration? {
    nextAttemptAt.map { max(.zero, $0 - now) }
  }

  /// The permission through the closed circuit; nil if it is open.
  var passIfClosed: CircuitPass? {
    nextAttemptAt == nil ? CircuitPass(period: period, attempt: nil) : nil
  }

  mutating func enter(at now: Duration) -> CircuitAdmission {
    // It may have closed meanwhile.
    guard let nextAttemptAt, let failure else {
      return .passes(CircuitPass(period: period, attempt: nil))
    }
    if now < nextAttemptAt { return .refused(remaining: nextAttemptAt - now, failure) }
    attempt += 1
    // The next one, should this one never be answered.
    self.nextAttemptAt = now + pause
    return .passes(CircuitPass(period: period, attempt: attempt))
  }

  /// Records a success; returns the failure that is forgotten.
  mutating func succeed(_ pass: CircuitPass) -> (any Error)? {
    pass.period == period ? close() : nil
  }

  /// Records a failure, or an attempt without an outcome; returns the failure that is forgotten.
  mutating func end(
    _ pass: CircuitPass, _ outcome: CircuitOutcome, at now: Duration
  ) -> (any Error)? {
    guard pass.period == period else { return nil }
    if case .failure(let error) = outcome { return fail(pass, error, at: now) }
    if pass.attempt == attempt, nextAttemptAt != nil { nextAttemptAt = now }
    return nil
  }

  func title(at now: Duration) -> String {
    let state =
      switch nextAttemptAt {
      case nil: "closed"
      case let time? where now < time: "open for \((time - now).brief)"
      case _?: "half open"
      }
    return "circuit breaking after \(greatest), \(state)"
  }

  private mutating func close() -> (any Error)? {
    failures = 0
    guard nextAttemptAt != nil else { return nil }
    nextAttemptAt = nil
    period += 1
    return exchange(&failure, with: nil)
  }

  private mutating func fail(
    _ pass: CircuitPass, _ error: any Error, at now: Duration
  ) -> (any Error)? {
    guard nextAttemptAt == nil else {
      guard pass.attempt == attempt else { return nil }
      attempt += 1
      nextAttemptAt = now + pause
      return exchange(&failure, with: error)
    }
    failures += 1
    guard failures >= greatest else { return nil }
    nextAttemptAt = now + pause
    period += 1
    return exchange(&failure, with: error)
  }
}

extension Error {
  /// Whether the error is about the get itself, and says nothing about the origin.
  fileprivate var isOfTheGet: Bool {
    if isCancellation { return true }
    return switch self as? CacheError {
    case .miss, .circular, .refused, .tooManyWaiting, .circuitOpen, .nameTaken, .scopeEnded,
      .shutDown, .unfinished, .stepsFailed:
      true
    case .failed(_, let underlying): underlying.isOfTheGet
    case .unavailable, .undecodable, .partlyStored, .partlyWritten, .full, .inUse, .refusedValue,
      .unsupported, nil:
      false
    }
  }
}
