#if canImport(Combine)
  public import Combine
  import Synchronization

  // Tested against a stand-in for Combine in `.ci/apple`, since the module exists on Apple's
  // platforms only.

  extension Signal {
    /// A Combine publisher that runs the signal for each subscriber; cancelling disposes.
    ///
    /// The run starts with the first demand. Progress is left out. Values beyond the subscriber's
    /// demand wait, without a limit, and the end waits behind them.
    ///
    /// - Note: The subscriber is called on the thread that sends the value or asks for more, by one
    ///   thread at a time.
    public var publisher: AnyPublisher<Value, any Error> {
      SignalPublisher(signal: self).eraseToAnyPublisher()
    }

    /// Subscribes to a new publisher for each subscription, and forwards its output and completion.
    ///
    ///     let changes = Signal.from { NotificationCenter.default.publisher(for: name) }
    ///
    /// All values are asked for at once.
    ///
    /// - Parameter makePublisher: Makes the publisher. A closure, since few publishers are
    ///   `Sendable`.
    public static func from<Source: Publisher & SendableMetatype>(
      _ makePublisher: @escaping @Sendable () -> Source
    ) -> Signal where Source.Output == Value {
      create { observer, lifetime in
        makePublisher().subscribe(ForwardingSubscriber(observer: observer, lifetime: lifetime))
      }
    }
  }

  // MARK: - To Combine

  private struct SignalPublisher<Output: Sendable>: Publisher {
    typealias Failure = any Error

    let signal: Signal<Output>

    func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == any Error {
      subscriber.receive(subscription: SignalSubscription(signal, AnySubscriber(subscriber)))
    }
  }

  /// One run of a signal for a subscriber.
  private final class SignalSubscription<Value: Sendable>: Combine.Subscription, Sendable {
    typealias Downstream = AnySubscriber<Value, any Error>

    private enum Message: Sendable {
      case event(Event<Value>)
      case demand(Int?)
      case cancellation
    }

    private struct State {
      var queue = DemandBuffer<Value>()
      var downstream: Downstream?
    }

    private let signal: Signal<Value>
    private let lifetime = Lifetime()
    private let isStarted = AtomicValue(false)
    private let mailbox = Mailbox<Message>()

    /// Touched only with the mailbox's turn.
    private let state: SerialState<State>

    init(_ signal: Signal<Value>, _ downstream: Downstream) {
      self.signal = signal
      state = SerialState(State(downstream: downstream))
    }

    func request(_ demand: Subscribers.Demand) {
      guard demand > .none else { return }
      post(.demand(demand.max))
      if lifetime.isEnded || isStarted.exchange(true, ordering: .acquiringAndReleasing) { return }
      signal.run(
        Observer(next: { self.post(.event(.next($0))) }) { event in
          if event.isTerminal { self.post(.event(event.typed())) }
        }, lifetime)
    }

    func cancel() {
      lifetime.end()
      post(.cancellation)
    }

    private func post(_ message: Message) {
      mailbox.post(message) { receive($0) }
    }

    private func receive(_ message: Message) {
      switch message {
      case .event(let event): state.value.queue.append(event)
      case .demand(let count): state.value.queue.add(demand: count)
      case .cancellation: state.value = State()
      }
      deliver()
    }

    private func deliver() {
      while let downstream = state.value.downstream, !lifetime.isEnded,
        let event = state.value.queue.popFirst()
      {
        switch event {
        case .progress: break
        case .next(let value):
          let demand = downstream.receive(value)
          state.value.queue.add(demand: demand.max)
        case .failed(let error): finish(downstream, .failure(error))
        case .completed: finish(downstream, .finished)
        }
      }
    }

    private func finish(
      _ downstream: Downstream, _ completion: Subscribers.Completion<any Error>
    ) {
      state.value = State()
      lifetime.end { downstream.receive(completion: completion) }
    }
  }

  // MARK: - From Combine

  /// A subscriber that forwards everything to a signal's observer, until its lifetime ends.
  private final class ForwardingSubscriber<Value: Sendable, Failure: Error>: Subscriber, Sendable {
    private let observer: Observer<Value>
    private let lifetime: Lifetime

    init(observer: Observer<Value>, lifetime: Lifetime) {
      self.observer = observer
      self.lifetime = lifetime
    }

    func receive(subscription: any Combine.Subscription) {
      // From now on the subscription is only cancelled by others, which any thread may do.
      let kept = SerialState(subscription)
      lifetime.onEnd { kept.value.cancel() }
      if !lifetime.isEnded { subscription.request(.unlimited) }
    }

    func receive(_ value: Value) -> Subscribers.Demand {
      observer.next(value)
      return .none
    }

    func receive(completion: Subscribers.Completion<Failure>) {
      switch completion {
      case .finished: observer.completed()
      case .failure(let error): observer.failed(error)
      }
    }
  }
#endif
