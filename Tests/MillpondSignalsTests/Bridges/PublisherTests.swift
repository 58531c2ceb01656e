#if canImport(Combine)
  import Combine
  import MillpondSignals
  import MillpondTesting
  import Testing

  @Suite struct PublisherTests {
    let source = TestSource<Int>()

    @Test func `the run starts with the first demand, once`() {
      let subscriber = DemandingSubscriber<Int>()
      source.signal.publisher.subscribe(subscriber)
      #expect(source.subscriptions == 0)

      subscriber.request(.none)
      #expect(source.subscriptions == 0)
      subscriber.request(.max(1))
      subscriber.request(.max(1))

      #expect(source.subscriptions == 1)
    }

    @Test func `a subscriber gets no more values than it asked for, and all in the end`() {
      let subscriber = DemandingSubscriber<Int>()
      source.signal.publisher.subscribe(subscriber)

      subscriber.request(.max(2))
      for value in 1...5 { source.next(value) }
      source.completed()
      #expect(subscriber.received == ["1", "2"])
      subscriber.request(.max(1))
      #expect(subscriber.received == ["1", "2", "3"])
      subscriber.request(.unlimited)

      #expect(subscriber.received == ["1", "2", "3", "4", "5", "finished"])
    }

    @Test func `the demand that a value is answered with counts`() {
      let subscriber = DemandingSubscriber<Int>(answer: .max(1))
      Signal.from(1...100).publisher.subscribe(subscriber)

      subscriber.request(.max(1))

      #expect(subscriber.received == (1...100).map { "\($0)" } + ["finished"])
    }

    @Test func `demand from inside a value counts, and calls don't overlap`() {
      let subscriber = DemandingSubscriber<Int>()
      subscriber.react { subscriber.request(.max(1)) }
      Signal.from(1...100).publisher.subscribe(subscriber)

      subscriber.request(.max(1))

      #expect(subscriber.received == (1...100).map { "\($0)" } + ["finished"])
      #expect(subscriber.overlaps == 0)
    }

    @Test func `a failure waits behind the values; progress is left out`() {
      let subscriber = DemandingSubscriber<Int>()
      source.signal.publisher.subscribe(subscriber)
      subscriber.request(.max(1))

      source.progress(SignalProgress(completed: 1, total: 2))
      source.next(1)
      source.next(2)
      source.failed(Failure())
      #expect(subscriber.received == ["1"])
      subscriber.request(.max(1))

      #expect(subscriber.received == ["1", "2", "Failure()"])
    }

    @Test func `cancelling disposes of the run, and nothing is received after it`() {
      let subscriber = DemandingSubscriber<Int>()
      source.signal.publisher.subscribe(subscriber)
      subscriber.request(.max(1))
      source.next(1)
      source.next(2)

      subscriber.cancel()
      subscriber.request(.unlimited)
      source.next(3)

      #expect(source.disposals == 1)
      #expect(subscriber.received == ["1"])
    }

    @Test func `after a cancellation from inside a value, nothing of what waits is received`() {
      let subscriber = DemandingSubscriber<Int>()
      source.signal.publisher.subscribe(subscriber)
      subscriber.react { if subscriber.received.count == 2 { subscriber.cancel() } }
      subscriber.request(.max(1))
      for value in 1...5 { source.next(value) }

      subscriber.request(.unlimited)

      #expect(subscriber.received == ["1", "2"])
      #expect(source.disposals == 1)
    }

    @Test func `a run that is cancelled before its first demand never starts`() {
      let subscriber = DemandingSubscriber<Int>()
      source.signal.publisher.subscribe(subscriber)

      subscriber.cancel()
      subscriber.request(.unlimited)

      #expect(source.subscriptions == 0)
    }

    @Test func `each subscriber has a run of its own`() {
      let publisher = source.signal.publisher
      let subscribers = [DemandingSubscriber<Int>(), DemandingSubscriber<Int>()]
      for subscriber in subscribers {
        publisher.subscribe(subscriber)
        subscriber.request(.unlimited)
      }

      #expect(source.subscriptions == 2)
    }

    @Test func `waiting values are released with a cancelled subscription`() {
      let subscriber = DemandingSubscriber<Token>()
      let objects = TestSource<Token>()
      objects.signal.publisher.subscribe(subscriber)
      subscriber.request(.max(1))
      weak var waiting: Token?
      do {
        let token = Token()
        waiting = token
        objects.next(Token())
        objects.next(token)
      }
      #expect(waiting != nil)

      subscriber.cancel()

      #expect(waiting == nil)
    }

    @Test(arguments: 0..<20)
    func `four threads that send and two that ask lose nothing and never overlap`(run: Int) {
      let subject = PublishSubject<Int>()
      let subscriber = DemandingSubscriber<Int>(answer: run.isMultiple(of: 2) ? .none : .max(1))
      subject.signal.publisher.subscribe(subscriber)
      subscriber.request(.max(1))

      onThreads(6) { thread in
        for step in 0..<1_000 {
          if thread < 4 { subject.next(thread * 1_000 + step) } else { subscriber.request(.max(3)) }
        }
      }
      subject.completed()
      subscriber.request(.unlimited)

      let values = subscriber.received.compactMap { Int($0) }
      #expect(values.sorted() == Array(0..<4_000))
      for sender in 0..<4 {
        let own = values.filter { $0 / 1_000 == sender }
        #expect(own == own.sorted())
      }
      #expect(subscriber.received.last == "finished")
      #expect(subscriber.overlaps == 0)
    }

    @Test(arguments: 0..<20)
    func `a cancellation that races four senders is the last word`(run: Int) {
      let subject = PublishSubject<Int>()
      let subscriber = DemandingSubscriber<Int>()
      subject.signal.publisher.subscribe(subscriber)
      subscriber.request(.unlimited)

      onThreads(5) { thread in
        if thread < 4 {
          for step in 0..<200 { subject.next(step) }
        } else {
          subscriber.cancel()
        }
      }
      let count = subscriber.received.count
      subject.next(0)

      #expect(subscriber.received.count == count)
      #expect(subscriber.overlaps == 0)
    }
  }

  struct Failure: Error {}
  final class Token: Sendable {}
#endif
