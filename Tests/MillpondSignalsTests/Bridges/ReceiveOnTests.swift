import Dispatch
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct ReceiveOnTests {
  let source = TestSource<Int>()
  let recorder = Recorder<Int>()
  let queue = DispatchQueue(label: "receiving")
  let key = DispatchSpecificKey<Bool>()

  @Test func `all events arrive on the queue, in order`() async throws {
    queue.setSpecific(key: key, value: true)
    let places = Journal<Bool>()
    recorder.subscribe(to: source.signal.receive(on: queue)) { [key] _ in
      places.write(DispatchQueue.getSpecific(key: key) ?? false)
    }

    source.progress(SignalProgress(completed: 1))
    for value in 0..<100 { source.next(value) }
    source.completed()
    try await recorder.ended()

    #expect(recorder.values == Array(0..<100))
    #expect(places.entries.allSatisfy { $0 })
    #expect(recorder.violations.isEmpty)
  }

  @Test func `a failure arrives, too`() async throws {
    recorder.subscribe(to: source.signal.receive(on: queue))

    source.failed(Trouble.some)
    try await recorder.ended()

    #expect(recorder.failure as? Trouble == .some)
  }

  @Test func `a settled value arrives on the queue`() async throws {
    recorder.subscribe(to: Signal.just(1).receive(on: queue))

    try await recorder.ended()

    #expect(recorder.transcript == ["next 1", "completed"])
  }

  @Test func `on a concurrent queue deliveries do not overlap`() async throws {
    let concurrent = DispatchQueue(label: "concurrent", attributes: .concurrent)
    recorder.subscribe(to: source.signal.receive(on: concurrent))

    for value in 0..<5_000 { source.next(value) }
    source.completed()
    try await recorder.ended()

    #expect(recorder.values == Array(0..<5_000))
    #expect(recorder.violations.isEmpty)
  }

  @Test func `on an executor all events arrive there, in order, one at a time`() async throws {
    let executor = QueueExecutor()
    let places = Journal<Bool>()
    recorder.subscribe(to: source.signal.receive(on: executor)) { _ in
      places.write(executor.isCurrent)
    }

    for value in 0..<1_000 { source.next(value) }
    source.completed()
    try await recorder.ended()

    #expect(recorder.values == Array(0..<1_000))
    #expect(!places.entries.contains(false))
    #expect(recorder.violations.isEmpty)
  }

  @Test func `an executor that is slow bounds what waits for it`() async throws {
    let executor = QueueExecutor()
    executor.queue.suspend()
    recorder.subscribe(to: source.signal.receive(on: executor, limit: 2))

    for value in 1...4 { source.next(value) }
    executor.queue.resume()
    try await recorder.ended()

    #expect(recorder.values == [1, 2])
    #expect(recorder.failure is SignalError)
  }

  @Test func `progress that waits is conflated`() async throws {
    queue.suspend()
    recorder.subscribe(to: source.signal.receive(on: queue))
    for step in 1...5 { source.progress(SignalProgress(completed: step)) }
    source.next(1)
    source.progress(SignalProgress(completed: 6))
    source.completed()
    queue.resume()
    try await recorder.ended()

    #expect(recorder.transcript == ["progress 5/?", "next 1", "progress 6/?", "completed"])
  }

  @Test(arguments: [0, 1, 3])
  func `one event more than the limit ends the signal, after those that wait`(limit: Int)
    async throws
  {
    queue.suspend()
    recorder.subscribe(to: source.signal.receive(on: queue, limit: limit))
    for value in 0..<limit { source.next(value) }
    let before = source.disposals
    source.next(limit)
    source.next(limit + 1)
    let after = source.disposals
    queue.resume()
    try await recorder.ended()

    #expect(before == 0)
    #expect(after == 1)
    #expect(recorder.values == Array(0..<limit))
    guard case SignalError.bufferFull(limit)? = recorder.failure else {
      Issue.record("\(recorder.transcript)")
      return
    }
  }

  @Test func `the end may come when the buffer is full`() async throws {
    queue.suspend()
    recorder.subscribe(to: source.signal.receive(on: queue, limit: 1))
    source.next(1)
    source.completed()
    queue.resume()
    try await recorder.ended()

    #expect(recorder.transcript == ["next 1", "completed"])
  }

  @Test func `disposal reaches the upstream, and what waits is not delivered`() async throws {
    queue.suspend()
    recorder.subscribe(to: source.signal.receive(on: queue))
    source.next(1)

    recorder.dispose()
    queue.resume()
    let marker = Recorder<Int>().subscribe(to: Signal.empty.receive(on: queue))
    try await marker.ended()

    #expect(source.disposals == 1)
    #expect(recorder.events.isEmpty)
  }

  @Test func `a send does not wait for a callback`() async throws {
    let scene = HeldLock()
    recorder.subscribe(to: source.signal.receive(on: queue)) { event in
      if case .next(1) = event { scene.callback() }
    }

    try await scene.play(
      send: { [source] in source.next(1) }, meddle: { [source] in source.next(2) })
    try await recorder.values(count: 2)

    #expect(recorder.values == [1, 2])
  }

  @Test func `progress that is conflated at the limit does not end anything`() async throws {
    let source = TestSource<Int>()
    let queue = DispatchQueue(label: "suspended")
    queue.suspend()
    let recorder = Recorder<Int>().subscribe(to: source.signal.receive(on: queue, limit: 2))
    source.next(1)
    source.progress(SignalProgress(completed: 1))

    source.progress(SignalProgress(completed: 2))
    queue.resume()
    try await recorder.values(count: 1)
    source.completed()
    try await recorder.ended()

    #expect(recorder.transcript == ["next 1", "progress 2/?", "completed"])
  }

  @Test func `all values sent after the overflow are dropped`() async throws {
    let queue = DispatchQueue(label: "a queue")
    let recorder = Recorder<Int>()
    let heedless = Signal<Int> { observer, _ in
      for value in 0..<10 { observer.next(value) }
      observer.completed()
    }
    queue.suspend()
    recorder.subscribe(to: heedless.receive(on: queue, limit: 2))
    queue.resume()

    try await recorder.ended()
    queue.sync {}

    #expect(recorder.values == [0, 1])
    #expect(recorder.failure is SignalError)
    #expect(recorder.events.count == 3)
    #expect(recorder.violations.isEmpty)
  }
}

/// An executor of the user's own, which runs its jobs on a concurrent queue.
private final class QueueExecutor: TaskExecutor {
  let queue = DispatchQueue(label: "executor", attributes: .concurrent)
  private let key = DispatchSpecificKey<Bool>()

  init() {
    queue.setSpecific(key: key, value: true)
  }

  var isCurrent: Bool {
    DispatchQueue.getSpecific(key: key) == true
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
