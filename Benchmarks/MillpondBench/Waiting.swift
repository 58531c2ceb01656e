import Dispatch
import MillpondSignals
import Synchronization

/// A wait for the end of many signals on any threads, and the sum of their values.
final class SignalSum: Sendable {
  private let sum = Atomic(0)
  private let remaining: Atomic<Int>
  private let end = DispatchSemaphore(value: 0)

  /// - Parameter count: The number of signals that will be added.
  init(of count: Int) {
    // One more, so that it doesn't end before it is waited for.
    remaining = Atomic(count + 1)
  }

  func add<Value>(_ signal: Signal<Value>, _ term: @escaping @Sendable (Value) -> Int) {
    signal.subscribe(
      onNext: { self.sum.wrappingAdd(term($0), ordering: .relaxed) },
      onFailed: { _ in self.endOne() }, onCompleted: { self.endOne() })
  }

  /// Returns the sum once all have ended; a failed signal adds nothing.
  func total() -> Int {
    endOne()
    end.wait()
    return sum.load(ordering: .relaxed)
  }

  private func endOne() {
    let (_, now) = remaining.wrappingSubtract(1, ordering: .acquiringAndReleasing)
    if now == 0 { end.signal() }
  }
}

/// Runs `body` in a task, waits for it, and returns its result.
func blocking<Result: Sendable>(
  _ body: @escaping @Sendable () async throws -> Result
) throws -> Result {
  let result = Kept<Swift.Result<Result, any Error>?>(nil)
  let end = DispatchSemaphore(value: 0)
  Task.detached {
    do { result.value = .success(try await body()) } catch { result.value = .failure(error) }
    end.signal()
  }
  end.wait()
  guard let outcome = result.value else { throw SignalError.empty }
  return try outcome.get()
}

/// Waits for the value of a signal, and returns it.
func awaited<Value: Sendable>(_ signal: Signal<Value>) throws -> Value {
  try blocking { try await signal.value }
}

/// A value that is changed by one thread at a time.
///
/// Sendable because events are serial, and their end is awaited before anything is read.
final class Kept<Value>: @unchecked Sendable {
  @exclusivity(unchecked) var value: Value

  init(_ value: Value) {
    self.value = value
  }
}
