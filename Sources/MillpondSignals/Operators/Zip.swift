/// Joins the first values of all signals, then the second ones, and so on, in the order given.
///
/// Completes as soon as one of them has completed and its values are used up; fails with the first
/// failure. Progress is the sum, its total known if each signal that runs knows its own. Of no
/// signals at all: completes.
///
/// - Complexity: Values that wait for their partners are kept.
@inlinable
public func zip<each Value: Sendable>(
  _ signals: repeat Signal<each Value>
) -> Signal<(repeat each Value)> {
  Signal<(repeat each Value)> { observer, lifetime in
    let lanes = (repeat ZipLane(of: each signals))
    var count = 0
    for lane in repeat each lanes {
      lane.number = count
      count += 1
    }
    let zipping = Zipping(observer, lifetime.child(), lanes: count) {
      (repeat (each lanes).pop())
    }
    zipping.start()
    for (lane, signal) in repeat (each lanes, each signals) { zipping.feed(lane, from: signal) }
  }
}

/// The values of one input that wait for their partners.
///
/// Sendable because the number is set before anybody else sees the lane, and the queue is locked.
@usableFromInline
final class ZipLane<Value: Sendable>: @unchecked Sendable {
  @usableFromInline var number = 0
  @usableFromInline let waiting = Locked(Queue<Value>())

  @inlinable
  init(of signal: Signal<Value>) {}

  @inlinable
  func append(_ value: Value) {
    waiting.withLock { $0.append(value) }
  }

  /// Called only for a value that `ZipState` has counted.
  @inlinable
  func pop() -> Value {
    guard let value = waiting.withLock({ $0.popFirst() }) else {
      preconditionFailure("a lane was asked for more values than were counted in it")
    }
    return value
  }
}

/// Delivers the joined values; `ZipState` decides, this acts.
@usableFromInline
final class Zipping<Output: Sendable>: @unchecked Sendable {
  // Sendable because `state` is touched only by whoever has the mailbox's turn.
  @usableFromInline let downstream: Observer<Output>
  @usableFromInline let lifetime: Lifetime
  @usableFromInline let pop: @Sendable () -> Output
  @usableFromInline let mailbox = Mailbox<ZipMessage>()
  @exclusivity(unchecked) @usableFromInline var state: ZipState

  @inlinable
  init(
    _ downstream: Observer<Output>, _ lifetime: Lifetime, lanes: Int,
    pop: @escaping @Sendable () -> Output
  ) {
    self.downstream = downstream
    self.lifetime = lifetime
    self.pop = pop
    state = ZipState(lanes: lanes)
  }

  @inlinable
  func start() {
    post(.started)
  }

  @inlinable
  func feed<Value>(_ lane: ZipLane<Value>, from signal: Signal<Value>) {
    if lifetime.isEnded { return }
    let input = lifetime.child()
    let number = lane.number
    signal.run(
      Observer(
        next: {
          lane.append($0)
          self.post(.arrived(number))
        },
        other: { event in
          if event.isTerminal { input.end() }
          self.post(.other(number, event))
        }), input)
  }

  @inlinable
  func post(_ message: ZipMessage) {
    mailbox.post(message) { message in
      switch state.received(message) {
      case .join: join()
      case .progress(let progress): downstream.progress(progress)
      case .end(let event): end(event)
      case .wait: break
      }
    }
  }

  @inlinable
  func join() {
    downstream.next(pop())
    if state.isUsedUp { end(.completed) }
  }

  @inlinable
  func end(_ event: Event<Never>) {
    state.isOver = true
    lifetime.end()
    downstream.other(event)
  }
}

@usableFromInline
enum ZipMessage: Sendable {
  case started
  case arrived(Int)
  case other(Int, Event<Never>)
}

/// What has arrived, and what follows from it.
@usableFromInline
struct ZipState: Sendable {
  @usableFromInline
  enum Step {
    case join
    case progress(Progress)
    case end(Event<Never>)
    case wait
  }

  @usableFromInline var isOver = false
  @usableFromInline var lanes: [Lane]
  @usableFromInline var emptyLanes: Int

  @usableFromInline
  struct Lane: Sendable {
    @usableFromInline var waiting = 0
    @usableFromInline var isClosed = false
    @usableFromInline var progress: Progress?

    @inlinable
    init() {}
  }

  @inlinable
  init(lanes count: Int) {
    lanes = Array(repeating: Lane(), count: count)
    emptyLanes = count
  }

  /// Whether some lane is empty and will stay so.
  @inlinable
  var isUsedUp: Bool {
    lanes.isEmpty || lanes.contains { $0.isClosed && $0.waiting == 0 }
  }

  @inlinable
  mutating func received(_ message: ZipMessage) -> Step {
    if isOver { return .wait }
    switch message {
    case .started: return isUsedUp ? .end(.completed) : .wait
    case .arrived(let lane): return arrived(in: lane)
    case .other(_, .failed(let error)): return .end(.failed(error))
    case .other(let lane, .completed): return closed(lane)
    case .other(let lane, .progress(let progress)):
      lanes[lane].progress = progress
      return .progress(sum)
    }
  }

  @inlinable
  mutating func arrived(in lane: Int) -> Step {
    lanes[lane].waiting += 1
    if lanes[lane].waiting == 1 { emptyLanes -= 1 }
    guard emptyLanes == 0 else { return .wait }
    for index in lanes.indices {
      lanes[index].waiting -= 1
      if lanes[index].waiting == 0 { emptyLanes += 1 }
    }
    return .join
  }

  @inlinable
  mutating func closed(_ lane: Int) -> Step {
    lanes[lane].isClosed = true
    return lanes[lane].waiting == 0 ? .end(.completed) : .wait
  }

  @inlinable
  var sum: Progress {
    let completed = lanes.reduce(0) { $0 + ($1.progress?.completed ?? 0) }
    var total: Int? = 0
    for lane in lanes where !lane.isClosed || lane.progress != nil {
      total = total.flatMap { sum in lane.progress?.total.map { sum + $0 } }
    }
    return Progress(completed: completed, total: total)
  }
}
