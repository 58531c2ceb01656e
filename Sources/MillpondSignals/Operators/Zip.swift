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
    let zipping = Zipping(lifetime.child(), lanes: count, other: observer.onOther) {
      observer.next((repeat (each lanes).pop()))
    }
    zipping.start()
    for (lane, signal) in repeat (each lanes, each signals) { zipping.feed(lane, from: signal) }
  }
}

/// The values of one input that wait for their partners, in a ring.
///
/// The optimiser specialises nothing for the elements of a pack, and then each use of a generic
/// container looks up metadata; bare memory needs none.
///
/// Sendable because the number is set before anybody else sees the lane, and the rest is touched
/// only by whoever has the mailbox's turn, or in deinit.
@usableFromInline
final class ZipLane<Value: Sendable>: @unchecked Sendable {
  @exclusivity(unchecked) @usableFromInline var number = 0
  @exclusivity(unchecked) private var ring: UnsafeMutablePointer<Value>
  @exclusivity(unchecked) private var capacity = 4
  @exclusivity(unchecked) private var head = 0
  @exclusivity(unchecked) private var count = 0

  @usableFromInline
  init(of signal: Signal<Value>) {
    ring = .allocate(capacity: capacity)
  }

  deinit {
    for offset in 0..<count { slot(offset).deinitialize(count: 1) }
    ring.deallocate()
  }

  func append(_ value: Value) {
    if count == capacity { resize(to: capacity * 2) }
    slot(count).initialize(to: value)
    count += 1
  }

  /// Called only for a value that `ZipState` has counted.
  @usableFromInline
  func pop() -> Value {
    precondition(count > 0, "a lane was asked for more values than were counted in it")
    if capacity > 64, count * 4 <= capacity { resize(to: capacity / 2) }
    let first = slot(0)
    head = (head + 1) & (capacity - 1)
    count -= 1
    return first.move()
  }

  /// The capacity is a power of two.
  private func slot(_ offset: Int) -> UnsafeMutablePointer<Value> {
    ring + ((head + offset) & (capacity - 1))
  }

  private func resize(to newCapacity: Int) {
    let new = UnsafeMutablePointer<Value>.allocate(capacity: newCapacity)
    for offset in 0..<count { (new + offset).moveInitialize(from: slot(offset), count: 1) }
    ring.deallocate()
    (ring, capacity, head) = (new, newCapacity, 0)
  }
}

/// Delivers the joined values; `ZipState` decides, this acts.
@usableFromInline
final class Zipping: @unchecked Sendable {
  // Sendable because `state` is touched only by whoever has the mailbox's turn.
  private let lifetime: Lifetime
  private let other: @Sendable (Event<Never>) -> Void
  private let joinFirst: @Sendable () -> Void
  private let mailbox = Mailbox<ZipMessage>()
  @exclusivity(unchecked) private var state: ZipState

  @usableFromInline
  init(
    _ lifetime: Lifetime, lanes: Int, other: @escaping @Sendable (Event<Never>) -> Void,
    joinFirst: @escaping @Sendable () -> Void
  ) {
    self.lifetime = lifetime
    self.other = other
    self.joinFirst = joinFirst
    state = ZipState(lanes: lanes)
  }

  @usableFromInline
  func start() {
    post(.started)
  }

  @usableFromInline
  func feed<Value>(_ lane: ZipLane<Value>, from signal: Signal<Value>) {
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

  private func receive<Value>(_ value: Value, in lane: ZipLane<Value>) {
    mailbox.post(
      .arrived(lane.number, append: { lane.append(value) }),
      immediately: {
        if state.isOver { return }
        lane.append(value)
        act(state.arrived(in: lane.number))
      },
      receive: { receive($0) })
  }

  private func post(_ message: ZipMessage) {
    mailbox.post(message) { receive($0) }
  }

  private func receive(_ message: ZipMessage) {
    if state.isOver { return }
    if case .arrived(_, let append) = message { append() }
    act(state.received(message))
  }

  private func act(_ step: ZipState.Step) {
    switch step {
    case .join: join()
    case .progress(let progress): other(.progress(progress))
    case .end(let event): end(event)
    case .wait: break
    }
  }

  private func join() {
    joinFirst()
    if state.isUsedUp { end(.completed) }
  }

  private func end(_ event: Event<Never>) {
    state.isOver = true
    lifetime.end()
    other(event)
  }
}

enum ZipMessage: Sendable {
  case started
  case arrived(Int, append: @Sendable () -> Void)
  case other(Int, Event<Never>)
}

/// What has arrived, and what follows from it.
struct ZipState: Sendable {
  enum Step {
    case join
    case progress(SignalProgress)
    case end(Event<Never>)
    case wait
  }

  var isOver = false
  var lanes: [Lane]
  var emptyLanes: Int

  struct Lane: Sendable {
    var waiting = 0
    var isClosed = false
    var progress: SignalProgress?

    /// What is closed has nothing left to do, so its total is what it did.
    var share: SignalProgress {
      let completed = progress?.completed ?? 0
      return SignalProgress(
        completed: completed, total: progress?.total ?? (isClosed ? completed : nil))
    }
  }

  init(lanes count: Int) {
    lanes = Array(repeating: Lane(), count: count)
    emptyLanes = count
  }

  /// Whether some lane is empty and will stay so.
  var isUsedUp: Bool {
    lanes.isEmpty || lanes.contains { $0.isClosed && $0.waiting == 0 }
  }

  mutating func received(_ message: ZipMessage) -> Step {
    switch message {
    case .started: return isUsedUp ? .end(.completed) : .wait
    case .arrived(let lane, _): return arrived(in: lane)
    case .other(_, .failed(let error)): return .end(.failed(error))
    case .other(let lane, .completed): return closed(lane)
    case .other(let lane, .progress(let progress)):
      lanes[lane].progress = progress
      return .progress(sum)
    }
  }

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

  mutating func closed(_ lane: Int) -> Step {
    lanes[lane].isClosed = true
    return lanes[lane].waiting == 0 ? .end(.completed) : .wait
  }

  var sum: SignalProgress {
    lanes.reduce(SignalProgress(completed: 0, total: 0)) { $0 + $1.share }
  }
}
