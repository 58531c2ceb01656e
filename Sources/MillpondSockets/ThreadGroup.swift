/// The threads of one server, started one by one and joined together.
final class ThreadGroup: Sendable {
  private struct State: Sendable {
    var count = 0
    var threads: Set<UInt> = []
  }

  private let members = Monitor(State())

  /// Runs `body` on a new thread; returns false when the system has none.
  func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    members.withLock { $0.count += 1 }
    let members = members
    let started = SystemThread.start {
      let thread = SystemThread.current
      members.withLock { _ = $0.threads.insert(thread) }
      body()
      members.change {
        $0.threads.remove(thread)
        $0.count -= 1
      }
    }
    if !started { members.change { $0.count -= 1 } }
    return started
  }

  /// Blocks until all threads have ended; a thread of the group does not wait for itself.
  func join() {
    let thread = SystemThread.current
    _ = members.wait(until: nil) { $0.count == ($0.threads.contains(thread) ? 1 : 0) }
  }
}
