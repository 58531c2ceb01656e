import Dispatch
import MillpondSignals
import MillpondTesting

/// Runs `body` on a thread of its own, which it may block.
func onThread(_ body: @escaping @Sendable () -> Void) {
  DispatchQueue(label: "a thread").async(execute: body)
}

/// Runs `body` on `count` threads that start at the same time, and waits for all of them.
func race(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) async throws {
  let ready = Locked(0)
  let done = Watched(0)
  let go = Gate()
  for index in 0..<count {
    onThread {
      if ready.withLock({
        $0 += 1; return $0 == count
      }) {
        go.open()
      }
      go.pass()
      body(index)
      done.change { $0 += 1 }
    }
  }
  try await done.wait(for: "\(count) threads to finish") { $0 == count }
}
