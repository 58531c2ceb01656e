import Dispatch
import MillpondSignals
import Synchronization

/// The durations of many sets and of their outcomes, in nanoseconds.
///
/// Sendable because each place is written once, by one thread, and read after all were written.
final class SetJournal: @unchecked Sendable {
  private let setTimes: UnsafeMutableBufferPointer<Double>
  private let outcomeTimes: UnsafeMutableBufferPointer<Double>
  private let window: DispatchSemaphore
  private let windowSize: Int
  private let failed = Atomic(0)

  /// - Parameter windowSize: The number of sets without an outcome; a larger one would measure the
  ///   queue.
  init(count: Int, windowSize: Int) {
    self.windowSize = windowSize
    window = DispatchSemaphore(value: windowSize)
    setTimes = .allocate(capacity: count)
    setTimes.initialize(repeating: 0)
    outcomeTimes = .allocate(capacity: count)
    outcomeTimes.initialize(repeating: 0)
  }

  deinit {
    setTimes.deallocate()
    outcomeTimes.deallocate()
  }

  /// Times a set and its outcome.
  func time(_ turn: Int, _ set: () -> Signal<Void>) {
    window.wait()
    let start = DispatchTime.now()
    let outcome = set()
    setTimes[turn] = start.nanosecondsSince
    outcome.subscribe(
      onFailed: { _ in
        self.failed.wrappingAdd(1, ordering: .relaxed)
        self.end(turn, start)
      },
      onCompleted: { self.end(turn, start) })
  }

  /// Waits for all outcomes.
  func waitForAll() {
    for _ in 0..<windowSize { window.wait() }
    for _ in 0..<windowSize { window.signal() }
  }

  var sets: [Double] {
    Array(setTimes)
  }

  var outcomes: [Double] {
    Array(outcomeTimes)
  }

  var failures: Int {
    failed.load(ordering: .relaxed)
  }

  private func end(_ turn: Int, _ start: DispatchTime) {
    outcomeTimes[turn] = start.nanosecondsSince
    window.signal()
  }
}

extension DispatchTime {
  fileprivate var nanosecondsSince: Double {
    Double(DispatchTime.now().uptimeNanoseconds - uptimeNanoseconds)
  }
}
