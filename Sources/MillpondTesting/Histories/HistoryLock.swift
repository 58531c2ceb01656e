import Dispatch
import MillpondSignals
import Synchronization

/// A user's lock, held around each call and taken in each observer.
///
/// The thread that holds it may take it again, because an immediate answer is delivered inside the
/// call.
final class HistoryLock: Sendable {
  private let semaphore = DispatchSemaphore(value: 1)
  private let owner = Atomic<UInt>(0)

  func hold<Result>(_ body: () -> Result) -> Result {
    let thread = threadMark()
    if owner.load(ordering: .relaxed) == thread { return body() }
    semaphore.wait()
    owner.store(thread, ordering: .relaxed)
    defer {
      owner.store(0, ordering: .relaxed)
      semaphore.signal()
    }
    return body()
  }
}
