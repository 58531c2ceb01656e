import Dispatch
import Synchronization

/// Where a session is told things, one after the other, and whether one of them is waiting.
///
/// Linux: who tells a session something waits for its working queue, the same for all sessions, and an
/// origin that sends without a pause keeps that busy for seconds (swift-corelibs-foundation 6.3.1; on
/// its main branch `cancel` returns).
final class CommandQueue: Sendable {
  let queue = DispatchQueue(label: "millpond.http", qos: .userInitiated)
  private let waiting = Atomic(0)

  /// Whether there is something that the session has not been told yet.
  var isWaiting: Bool {
    waiting.load(ordering: .relaxed) > 0
  }

  func run(_ command: @escaping @Sendable () -> Void) {
    waiting.wrappingAdd(1, ordering: .relaxed)
    queue.async {
      command()
      self.waiting.wrappingSubtract(1, ordering: .relaxed)
    }
  }
}
