import Dispatch
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

@Suite struct QueueDeliveryTests {
  private let source = TestSource<Int>()
  private let queue = DispatchQueue(label: "handing over")
  private let recorder = Recorder<Int>()

  private func inBackground(_ work: @escaping @Sendable () -> Void) {
    queue.async(execute: work)
  }

  private func subscribe() {
    recorder.subscribe(to: source.signal.conflated { inBackground($0) })
  }

  /// Waits until all events that were sent are delivered.
  private func settle() {
    queue.sync {}
  }

  @Test func `a value comes with the end, on the queue`() {
    subscribe()
    source.next(1)
    settle()
    #expect(recorder.transcript.isEmpty)

    source.completed()
    settle()

    #expect(recorder.transcript == ["next 1", "completed"])
  }

  @Test func `an empty signal and a failure end on the queue too`() {
    struct Trouble: Error {}
    subscribe()
    source.failed(Trouble())
    settle()
    #expect(recorder.failure is Trouble)

    let empty = Recorder<Int>().subscribe(to: Signal.empty.conflated { inBackground($0) })
    settle()
    #expect(empty.transcript == ["completed"])
  }

  @Test func `of progress that waits the latest is delivered`() {
    subscribe()
    let hold = DispatchSemaphore(value: 0)
    queue.async { hold.wait() }
    for completed in 1...3 { source.progress(.init(completed: completed, total: 9)) }
    hold.signal()
    settle()

    #expect(recorder.progress == [.init(completed: 3, total: 9)])
  }

  @Test(arguments: [(0, 9, false), (1, 9, true), (9, 9, false), (0, 100_000, true), (0, nil, true)])
  func `the beginning and the end of small transfers are not reported`(
    completed: Int, total: Int?, isReported: Bool
  ) {
    subscribe()
    source.progress(.init(completed: completed, total: total))
    settle()

    #expect(recorder.progress.isEmpty == !isReported)
  }

  @Test func `an observer that leaves hears nothing, and the upstream ends`() {
    subscribe()
    let hold = DispatchSemaphore(value: 0)
    queue.async { hold.wait() }
    source.next(1)
    source.completed()

    recorder.dispose()
    hold.signal()
    settle()

    #expect(recorder.transcript.isEmpty)
  }

  @Test func `the end cancels the upstream before it is delivered`() {
    let order = Watched<[String]>([])
    let signal = Signal<Int>.create { observer, lifetime in
      lifetime.onEnd { order.change { $0.append("upstream") } }
      observer.next(1)
      observer.completed()
    }
    signal.conflated { inBackground($0) }.subscribe { event in
      if event.isTerminal { order.change { $0.append("delivered") } }
    }
    settle()

    #expect(order.state == ["upstream", "delivered"])
  }
}
