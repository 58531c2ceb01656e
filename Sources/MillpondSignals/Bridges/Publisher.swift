#if canImport(Combine)
  public import Combine
  import Synchronization

  // Kept as small as possible, because it is neither compiled nor tested on Linux.

  extension Signal {
    /// A Combine publisher that runs the signal for each subscriber; cancelling disposes.
    ///
    /// Progress is left out. Values beyond the subscriber's demand are buffered without a bound.
    ///
    /// - Note: Not compiled by the project's own checks, which run on Linux.
    public var publisher: AnyPublisher<Value, any Error> {
      SignalPublisher(signal: self)
        .buffer(size: .max, prefetch: .keepFull, whenFull: .dropOldest)
        .eraseToAnyPublisher()
    }

    /// Subscribes to a new publisher for each subscription, and forwards its output and completion.
    ///
    ///     let changes = Signal.from { NotificationCenter.default.publisher(for: name) }
    ///
    /// - Parameter makePublisher: Makes the publisher. A closure, since few publishers are
    ///   `Sendable`.
    /// - Note: Not compiled by the project's own checks, which run on Linux.
    public static func from<Source: Publisher & SendableMetatype>(
      _ makePublisher: @escaping @Sendable () -> Source
    ) -> Signal where Source.Output == Value {
      create { observer, lifetime in
        let cancellable = makePublisher().prefix(while: { _ in !lifetime.isEnded }).sink(
          receiveCompletion: { completion in
            switch completion {
            case .finished: observer.completed()
            case .failure(let error): observer.failed(error)
            }
          }, receiveValue: { observer.next($0) })
        // The cancellable is only ever cancelled, which any thread may do.
        let kept = SerialState(cancellable)
        lifetime.onEnd { kept.value.cancel() }
      }
    }
  }

  /// A publisher that ignores demand, and therefore needs a buffer behind it.
  private struct SignalPublisher<Output: Sendable>: Publisher {
    typealias Failure = any Error

    let signal: Signal<Output>

    func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == any Error {
      subscriber.receive(subscription: SignalSubscription(signal, AnySubscriber(subscriber)))
    }
  }

  /// One run, which starts with the first demand.
  private final class SignalSubscription<Value: Sendable>: Combine.Subscription, Sendable {
    private let signal: Signal<Value>

    /// Called only by the signal, serially.
    private let downstream: SerialState<AnySubscriber<Value, any Error>>
    private let lifetime = Lifetime()
    private let isStarted = Atomic(false)

    init(_ signal: Signal<Value>, _ downstream: AnySubscriber<Value, any Error>) {
      self.signal = signal
      self.downstream = SerialState(downstream)
    }

    func request(_ demand: Subscribers.Demand) {
      guard demand > .none, !isStarted.exchange(true, ordering: .acquiringAndReleasing) else {
        return
      }
      signal.run(Observer(next: { self.next($0) }, other: { self.other($0) }), lifetime)
    }

    func cancel() {
      lifetime.end()
    }

    private func next(_ value: Value) {
      if !lifetime.isEnded { _ = downstream.value.receive(value) }
    }

    private func other(_ event: Event<Never>) {
      switch event {
      case .progress: break
      case .failed(let error):
        lifetime.end { downstream.value.receive(completion: .failure(error)) }
      case .completed: lifetime.end { downstream.value.receive(completion: .finished) }
      }
    }
  }
#endif
