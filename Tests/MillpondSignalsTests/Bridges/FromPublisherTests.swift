#if canImport(Combine)
  import Combine
  import MillpondSignals
  import MillpondTesting
  import Testing

  @Suite struct FromPublisherTests {
    let publisher = TestPublisher<Int>()

    private func signal() -> Signal<Int> {
      let publisher = publisher
      return .from { publisher }
    }

    @Test func `values and the end are forwarded, and all values are asked for`() {
      let recorder = Recorder<Int>().subscribe(to: signal())

      publisher.send(1)
      publisher.send(2)
      publisher.finish(.finished)

      #expect(recorder.transcript == ["next 1", "next 2", "completed"])
      #expect(publisher.demands == [.unlimited])
    }

    @Test func `a failure is forwarded`() {
      let recorder = Recorder<Int>().subscribe(to: signal())

      publisher.finish(.failure(Failure()))

      #expect(recorder.failure is Failure)
    }

    @Test func `disposal cancels the subscription, and what is sent after it is dropped`() {
      let recorder = Recorder<Int>().subscribe(to: signal())
      publisher.send(1)

      recorder.dispose()
      publisher.send(2)
      publisher.finish(.finished)

      #expect(publisher.cancellations == 1)
      #expect(recorder.transcript == ["next 1"])
    }

    @Test func `a publisher that sends inside of subscribe is cancelled there`() {
      let eager = TestPublisher<Int>(sendingAtOnce: Array(1...100))

      let recorder = Recorder<Int>().subscribe(to: Signal.from { eager }.take(2))

      #expect(recorder.transcript == ["next 1", "next 2", "completed"])
      #expect(eager.cancellations == 1)
      #expect(recorder.violations.isEmpty)
    }

    @Test func `a publisher that goes on after its end is ignored`() {
      let recorder = Recorder<Int>().subscribe(to: signal())

      publisher.finish(.finished)
      publisher.send(1)
      publisher.finish(.failure(Failure()))

      #expect(recorder.transcript == ["completed"])
    }

    @Test func `each subscription has a publisher of its own`() {
      let made = Recorder<Int>()
      let signal = Signal<Int>.from {
        made.dispose()
        return TestPublisher<Int>(sendingAtOnce: [1])
      }

      let recorders = (0..<2).map { _ in Recorder<Int>().subscribe(to: signal) }

      #expect(recorders.map(\.values) == [[1], [1]])
    }

    @Test(arguments: 0..<20)
    func `a publisher that sends on four threads is heard serially`(run: Int) {
      let recorder = Recorder<Int>().subscribe(to: signal())

      onThreads(4) { thread in
        for step in 0..<500 { publisher.send(thread * 500 + step) }
      }
      publisher.finish(.finished)

      #expect(recorder.values.sorted() == Array(0..<2_000))
      #expect(recorder.isCompleted)
      #expect(recorder.violations.isEmpty)
    }

    @Test func `a signal that becomes a publisher and a signal again is the same`() {
      let recorder = Recorder<Int>().subscribe(
        to: Signal.from { Signal.from(1...5).publisher })

      #expect(recorder.values == Array(1...5))
      #expect(recorder.isCompleted)
    }
  }
#endif
