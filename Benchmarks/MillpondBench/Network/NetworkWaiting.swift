import Dispatch
import Foundation
import Millpond

/// Subscribes, waits for the end, and returns the number of bytes.
func waitForBytes(_ signal: Signal<Data>) -> Int {
  let end = DispatchSemaphore(value: 0)
  let count = Kept(0)
  signal.subscribe { event in
    if case .next(let data) = event { count.value += data.count }
    if event.isTerminal { end.signal() }
  }
  end.wait()
  return count.value
}

/// Sendable because events are serial, and the end is awaited before anything is read.
final class Kept<Value>: @unchecked Sendable {
  var value: Value

  init(_ value: Value) {
    self.value = value
  }
}

/// Returns the processor time of all threads, in seconds.
func processorTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Returns the median; nil of none.
func median(_ figures: [Double]) -> Double? {
  figures.isEmpty ? nil : figures.sorted()[figures.count / 2]
}

extension Duration {
  var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}
