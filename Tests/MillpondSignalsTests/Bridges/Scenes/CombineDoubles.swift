#if canImport(Combine)
  import Combine
  import Dispatch
  import MillpondSignals

  @testable import MillpondSignals

  /// A subscriber that asks for what it is told to, and records what it gets.
  ///
  /// Sendable because its state is locked.
  final class DemandingSubscriber<Input: Sendable>: Subscriber, @unchecked Sendable {
    typealias Failure = any Error

    private struct State {
      var subscription: SerialState<any Combine.Subscription>?
      var received: [String] = []
      var running = 0
      var overlaps = 0
    }

    private let state = Locked(State())
    private let answer: Subscribers.Demand
    nonisolated(unsafe) private var reaction: @Sendable () -> Void = {}

    /// - Parameter answer: The demand that each value is answered with.
    init(answer: Subscribers.Demand = .none) {
      self.answer = answer
    }

    var received: [String] { state.withLock { $0.received } }

    /// The number of calls that began while another one ran.
    var overlaps: Int { state.withLock { $0.overlaps } }

    /// Runs `reaction` inside of each value, from now on; called before the subscription.
    func react(_ reaction: @escaping @Sendable () -> Void) {
      self.reaction = reaction
    }

    func request(_ demand: Subscribers.Demand) {
      state.withLock { $0.subscription }?.value.request(demand)
    }

    func cancel() {
      state.withLock { $0.subscription }?.value.cancel()
    }

    func receive(subscription: any Combine.Subscription) {
      let subscription = SerialState(subscription)
      state.withLock { $0.subscription = subscription }
    }

    func receive(_ input: Input) -> Subscribers.Demand {
      record("\(input)", reaction)
      return answer
    }

    func receive(completion: Subscribers.Completion<any Error>) {
      switch completion {
      case .finished: record("finished") {}
      case .failure(let error): record("\(error)") {}
      }
    }

    private func record(_ text: String, _ reaction: () -> Void) {
      state.withLock {
        $0.received.append(text)
        if $0.running > 0 { $0.overlaps += 1 }
        $0.running += 1
      }
      reaction()
      state.withLock { $0.running -= 1 }
    }
  }

  /// A publisher without manners: it sends whatever demand there is, after its end and after
  /// cancellation, and on any thread.
  ///
  /// Sendable because its state is locked.
  final class TestPublisher<Output: Sendable>: Publisher, @unchecked Sendable {
    typealias Failure = any Error

    private struct State {
      var subscribers: [AnySubscriber<Output, any Error>] = []
      var demands: [Subscribers.Demand] = []
      var cancellations = 0
    }

    private let state = Locked(SerialState(State()))
    private let first: [Output]

    init(sendingAtOnce first: [Output] = []) {
      self.first = first
    }

    var demands: [Subscribers.Demand] { state.withLock { $0.value.demands } }
    var cancellations: Int { state.withLock { $0.value.cancellations } }

    func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == any Error {
      let subscriber = AnySubscriber(subscriber)
      let kept = SerialState(subscriber)
      state.withLock { $0.value.subscribers.append(kept.value) }
      subscriber.receive(subscription: TestSubscription(self))
      for value in first { _ = subscriber.receive(value) }
    }

    func send(_ value: Output) {
      for subscriber in subscribers { _ = subscriber.receive(value) }
    }

    func finish(_ completion: Subscribers.Completion<any Error>) {
      for subscriber in subscribers { subscriber.receive(completion: completion) }
    }

    func note(_ demand: Subscribers.Demand) { state.withLock { $0.value.demands.append(demand) } }
    func noteCancellation() { state.withLock { $0.value.cancellations += 1 } }

    private var subscribers: [AnySubscriber<Output, any Error>] {
      state.withLock { SerialState($0.value.subscribers) }.value
    }
  }

  private final class TestSubscription<Output: Sendable>: Combine.Subscription {
    private let publisher: TestPublisher<Output>

    init(_ publisher: TestPublisher<Output>) { self.publisher = publisher }

    func request(_ demand: Subscribers.Demand) { publisher.note(demand) }
    func cancel() { publisher.noteCancellation() }
  }

  /// Runs `body` on so many threads at once, and returns when all are done.
  func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let group = DispatchGroup()
    for thread in 0..<count {
      DispatchQueue(label: "publisher tests").async(group: group) { body(thread) }
    }
    group.wait()
  }
#endif
