/// Joins the first values of all signals, then the second ones, and so on, in the order given.
///
/// Completes as soon as one signal has completed and its values are used up; fails with the first
/// failure. Progress is the sum; its total is known if each running signal knows its own. Without
/// any signals, completes at once.
///
/// - Complexity: Buffers the values that wait for their partners, without a bound.
@inlinable
public func zip<each Value: Sendable>(
  _ signals: repeat Signal<each Value>
) -> Signal<(repeat each Value)> {
  joining(.usingUp, repeat each signals)
}

/// Joins the first values of all signals into an array, then the second ones, and so on.
///
///     let all = zip(ids.map { profiles.get($0) })
///
/// The values are in the order of the signals. End, failure and progress follow the rules of the
/// `zip` of separate signals. An empty sequence sends the empty array and completes.
///
/// - Complexity: O(1) for each value, and O(*n*) for each array of *n* values. Buffers the values
///   that wait for their partners, without a bound. Constant stack for any number of signals.
@inlinable
public func zip<Value>(_ signals: some Sequence<Signal<Value>>) -> Signal<[Value]> {
  joining(.usingUp, all: Array(signals))
}

/// Joins the latest values of all signals whenever one of them sends, in the order given.
///
/// Sends nothing until each signal has sent a value. Completes when all have completed, or one has
/// without a value; fails with the first failure. Progress is the sum; its total is known if each
/// running signal knows its own. Without any signals, completes at once.
@inlinable
public func combineLatest<each Value: Sendable>(
  _ signals: repeat Signal<each Value>
) -> Signal<(repeat each Value)> {
  joining(.keepingLatest, repeat each signals)
}

/// Joins the latest values of all signals into an array whenever one of them sends.
///
///     let total = combineLatest(carts.map(\.total)).map { $0.reduce(0, +) }
///
/// The values are in the order of the signals. End, failure and progress follow the rules of the
/// `combineLatest` of separate signals. An empty sequence sends the empty array and completes.
///
/// - Complexity: O(*n*) for each array of *n* values, which is made anew for each value once every
///   signal has sent one. Constant stack for any number of signals.
@inlinable
public func combineLatest<Value>(_ signals: some Sequence<Signal<Value>>) -> Signal<[Value]> {
  joining(.keepingLatest, all: Array(signals))
}

/// Runs all signals, and joins one value of each whenever all have one.
///
/// - Parameter use: The use of values that were joined.
@inlinable
func joining<each Value: Sendable>(
  _ use: CombinedUse, _ signals: repeat Signal<each Value>
) -> Signal<(repeat each Value)> {
  var emptyError: (any Emptiness.Type)?
  for signal in repeat each signals { emptyError = emptyError ?? signal.emptyError }
  return Signal<(repeat each Value)>(
    start: { observer, lifetime in
      var count = 0
      let queues = (repeat CombinedQueue(of: each signals, use, &count))
      let inputs = ZipAndCombineLatest(count, use, lifetime, other: observer.onOther) {
        observer.next((repeat (each queues).take()))
      }
      for (queue, signal) in repeat (each queues, each signals) { inputs.feed(queue, from: signal) }
    }, now: nil, emptyError: emptyError)
}

/// Runs all signals, and joins one value of each into an array whenever all have one.
@inlinable
func joining<Value>(_ use: CombinedUse, all signals: [Signal<Value>]) -> Signal<[Value]> {
  if signals.isEmpty { return .just([]) }
  return Signal<[Value]>(
    start: { observer, lifetime in
      let queues = signals.indices.map { CombinedQueue<Value>($0, use) }
      let inputs = ZipAndCombineLatest(queues.count, use, lifetime, other: observer.onOther) {
        observer.next(queues.map { $0.take() })
      }
      for (queue, signal) in Swift.zip(queues, signals) { inputs.feed(queue, from: signal) }
    }, now: nil, emptyError: signals.lazy.compactMap { $0.emptyError }.first)
}

/// The number of waiting values in each input, and the inputs that still run.
package struct ZipAndCombineLatestRule: Sendable {
  package let use: CombinedUse
  private var waiting: ContiguousArray<Int>
  private var empty: Int
  private var isClosed: [Bool]
  private var running: Int

  /// The number of inputs that are closed and empty.
  private var usedUp = 0
  private var progress: [SignalProgress]
  private var together = ProgressSum()

  package init(inputs count: Int, _ use: CombinedUse) {
    self.use = use
    waiting = ContiguousArray(repeating: 0, count: count)
    empty = count
    isClosed = Array(repeating: false, count: count)
    running = count
    progress = Array(repeating: SignalProgress(completed: 0), count: count)
    for one in progress { together.add(one) }
  }

  /// Whether nothing can be joined any more: all inputs are closed, or one is closed and empty.
  package var isUsedUp: Bool {
    running == 0 || usedUp > 0
  }

  /// Counts a value; returns true if every input has one now, so that they are to be joined.
  package mutating func arrived(in input: Int) -> Bool {
    let before = waiting[input]
    if before == 0 { empty -= 1 }
    if before == 0 || use == .usingUp { waiting[input] = before + 1 }
    guard empty == 0 else { return false }
    if use == .usingUp { takeOneOfEach() }
    return true
  }

  /// Notes the end of an input.
  package mutating func close(_ input: Int) {
    isClosed[input] = true
    running -= 1
    if waiting[input] == 0 { usedUp += 1 }
    // A closed input has nothing left to do, so its total is the amount done.
    if progress[input].total == nil {
      let completed = progress[input].completed
      _ = sum(with: SignalProgress(completed: completed, total: completed), of: input)
    }
  }

  /// Notes the progress of an input, and returns the sum of all inputs.
  package mutating func sum(with new: SignalProgress, of input: Int) -> SignalProgress {
    together.remove(progress[input])
    together.add(new)
    progress[input] = new
    return together.progress
  }

  private mutating func takeOneOfEach() {
    // One loop over a buffer, so that bounds are not checked for each input.
    let before = empty
    waiting.withUnsafeMutableBufferPointer { waiting in
      for input in waiting.indices {
        waiting[input] -= 1
        if waiting[input] == 0 { empty += 1 }
      }
    }
    // While all inputs run, none can be used up.
    if running < waiting.count, empty > before {
      usedUp = waiting.indices.count { isClosed[$0] && waiting[$0] == 0 }
    }
  }
}

/// The inputs of a zip: `ZipAndCombineLatestRule` decides when to join their values, and this acts.
///
/// Little is generic here, because generic code would run unspecialised, see ``CombinedQueue``.
@usableFromInline
final class ZipAndCombineLatest: Sendable {
  private let lifetime: Lifetime
  private let other: @Sendable (Event<Never>) -> Void
  private let mailbox = Mailbox<CombinedMessage>()
  private let join: @Sendable () -> Void

  /// Touched only with the mailbox's turn.
  private let rule: SerialState<ZipAndCombineLatestRule>

  /// - Parameter join: Takes a value from each input, and sends them together.
  @usableFromInline
  init(
    _ count: Int, _ use: CombinedUse, _ subscriber: Lifetime,
    other: @escaping @Sendable (Event<Never>) -> Void, join: @escaping @Sendable () -> Void
  ) {
    rule = SerialState(ZipAndCombineLatestRule(inputs: count, use))
    lifetime = subscriber.child()
    self.other = other
    self.join = join
    if rule.value.isUsedUp { end(.completed) }
  }

  @usableFromInline
  func feed<Value>(_ queue: CombinedQueue<Value>, from signal: Signal<Value>) {
    if lifetime.isEnded { return }
    let (run, input) = (lifetime.child(), queue.input)
    signal.run(
      Observer(
        next: { self.receive($0, in: queue) },
        other: { event in
          if event.isTerminal { run.end() }
          self.post(.other(input, event))
        }), run)
  }

  private func receive<Value>(_ value: Value, in queue: CombinedQueue<Value>) {
    let mustDrain = mailbox.act(orPost: .arrived(queue.input) { queue.put(value) }) {
      if lifetime.isEnded { return }
      queue.put(value)
      arrived(in: queue.input)
    }
    if mustDrain { mailbox.drain { receive($0) } }
  }

  private func post(_ message: CombinedMessage) {
    mailbox.post(message) { receive($0) }
  }

  private func receive(_ message: CombinedMessage) {
    if lifetime.isEnded { return }
    switch message {
    case .arrived(let input, let put):
      put()
      arrived(in: input)
    case .other(let input, .progress(let progress)):
      other(.progress(rule.value.sum(with: progress, of: input)))
    case .other(let input, .completed):
      rule.value.close(input)
      if rule.value.isUsedUp { end(.completed) }
    case .other(_, .failed(let error)): end(.failed(error))
    }
  }

  private func arrived(in input: Int) {
    guard rule.value.arrived(in: input) else { return }
    join()
    if rule.value.isUsedUp, !lifetime.isEnded { end(.completed) }
  }

  private func end(_ event: Event<Never>) {
    lifetime.end()
    other(event)
  }
}

enum CombinedMessage: Sendable {
  case arrived(Int, put: @Sendable () -> Void)
  case other(Int, Event<Never>)
}
