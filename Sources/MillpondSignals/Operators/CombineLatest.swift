/// Joins the latest values of all signals, whenever one of them sends, in the order given.
///
/// Sends nothing until each has sent a value. Completes when all have completed, or one has without
/// a value; fails with the first failure. Progress is the sum, its total known if each signal that
/// runs knows its own. Of no signals at all: completes.
@inlinable
public func combineLatest<each Value: Sendable>(
  _ signals: repeat Signal<each Value>
) -> Signal<(repeat each Value)> {
  Signal<(repeat each Value)> { observer, lifetime in
    let lanes = (repeat LatestLane(of: each signals))
    var count = 0
    for lane in repeat each lanes {
      lane.number = count
      count += 1
    }
    let combining = CombiningLatest(lifetime.child(), lanes: count, other: observer.onOther) {
      observer.next((repeat (each lanes).value))
    }
    combining.start()
    for (lane, signal) in repeat (each lanes, each signals) { combining.feed(lane, from: signal) }
  }
}

/// The latest value of one input, in bare memory for the reason given at `ZipLane`.
///
/// Sendable because the number is set before anybody else sees the lane, and the rest is touched
/// only by whoever has the mailbox's turn, or in deinit.
@usableFromInline
final class LatestLane<Value: Sendable>: @unchecked Sendable {
  @exclusivity(unchecked) @usableFromInline var number = 0
  @exclusivity(unchecked) private var isFilled = false
  private let place = UnsafeMutablePointer<Value>.allocate(capacity: 1)

  @usableFromInline
  init(of signal: Signal<Value>) {}

  deinit {
    if isFilled { place.deinitialize(count: 1) }
    place.deallocate()
  }

  func put(_ value: Value) {
    if isFilled {
      place.pointee = value
    } else {
      place.initialize(to: value)
      isFilled = true
    }
  }

  /// Called only when `CombineLatestState` has counted a value of each lane.
  @usableFromInline
  var value: Value {
    precondition(isFilled, "a lane was asked for a value before it had one")
    return place.pointee
  }
}

/// Delivers the joined values; `CombineLatestState` decides, this acts.
@usableFromInline
final class CombiningLatest: @unchecked Sendable {
  // Sendable because `state` is touched only by whoever has the mailbox's turn.
  private let lifetime: Lifetime
  private let other: @Sendable (Event<Never>) -> Void
  private let joinLatest: @Sendable () -> Void
  private let mailbox = Mailbox<CombineLatestMessage>()
  @exclusivity(unchecked) private var state: CombineLatestState

  @usableFromInline
  init(
    _ lifetime: Lifetime, lanes: Int, other: @escaping @Sendable (Event<Never>) -> Void,
    joinLatest: @escaping @Sendable () -> Void
  ) {
    self.lifetime = lifetime
    self.other = other
    self.joinLatest = joinLatest
    state = CombineLatestState(lanes: lanes)
  }

  @usableFromInline
  func start() {
    post(.started)
  }

  @usableFromInline
  func feed<Value>(_ lane: LatestLane<Value>, from signal: Signal<Value>) {
    if lifetime.isEnded { return }
    let input = lifetime.child()
    let number = lane.number
    signal.run(
      Observer(
        next: { self.receive($0, in: lane) },
        other: { event in
          if event.isTerminal { input.end() }
          self.post(.other(number, event))
        }), input)
  }

  private func receive<Value>(_ value: Value, in lane: LatestLane<Value>) {
    mailbox.post(
      .arrived(lane.number, put: { lane.put(value) }),
      immediately: {
        if state.isOver { return }
        lane.put(value)
        act(state.arrived(in: lane.number))
      },
      receive: { receive($0) })
  }

  private func post(_ message: CombineLatestMessage) {
    mailbox.post(message) { receive($0) }
  }

  private func receive(_ message: CombineLatestMessage) {
    if state.isOver { return }
    if case .arrived(_, let put) = message { put() }
    act(state.received(message))
  }

  private func act(_ step: CombineLatestState.Step) {
    switch step {
    case .join: joinLatest()
    case .progress(let progress): other(.progress(progress))
    case .end(let event):
      lifetime.end()
      other(event)
    case .wait: break
    }
  }
}

enum CombineLatestMessage: Sendable {
  case started
  case arrived(Int, put: @Sendable () -> Void)
  case other(Int, Event<Never>)
}

/// Who has sent a value, who runs, and what follows from it.
struct CombineLatestState: Sendable {
  enum Step {
    case join
    case progress(SignalProgress)
    case end(Event<Never>)
    case wait
  }

  struct Lane: Sendable {
    var hasValue = false
    var isClosed = false
    var progress: SignalProgress?

    /// What is closed has nothing left to do, so its total is what it did.
    var share: SignalProgress {
      let completed = progress?.completed ?? 0
      return SignalProgress(
        completed: completed, total: progress?.total ?? (isClosed ? completed : nil))
    }
  }

  private(set) var isOver = false
  private var lanes: [Lane]
  private var withoutValue: Int
  private var running: Int

  init(lanes count: Int) {
    lanes = Array(repeating: Lane(), count: count)
    withoutValue = count
    running = count
  }

  mutating func received(_ message: CombineLatestMessage) -> Step {
    switch message {
    case .started: return running == 0 ? end(.completed) : .wait
    case .arrived(let lane, _): return arrived(in: lane)
    case .other(_, .failed(let error)): return end(.failed(error))
    case .other(let lane, .completed): return closed(lane)
    case .other(let lane, .progress(let progress)):
      lanes[lane].progress = progress
      return .progress(lanes.reduce(SignalProgress(completed: 0, total: 0)) { $0 + $1.share })
    }
  }

  mutating func arrived(in lane: Int) -> Step {
    if !lanes[lane].hasValue {
      lanes[lane].hasValue = true
      withoutValue -= 1
    }
    return withoutValue == 0 ? .join : .wait
  }

  private mutating func closed(_ lane: Int) -> Step {
    lanes[lane].isClosed = true
    running -= 1
    return running == 0 || !lanes[lane].hasValue ? end(.completed) : .wait
  }

  private mutating func end(_ event: Event<Never>) -> Step {
    isOver = true
    return .end(event)
  }
}
