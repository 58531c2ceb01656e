#if canImport(FoundationNetworking)
  import Dispatch
  import Foundation
  import MillpondSignals

  /// The queue on which a session is to call its delegate.
  ///
  /// - Parameter commands: Where the session is told things, which it hears only when it does not wait.
  func delegateQueue(with commands: CommandQueue) -> OperationQueue? {
    HoldingQueue(commands)
  }

  /// Does one thing after the other, and holds the session back while much is waiting.
  ///
  /// A session of swift-corelibs-foundation (6.3.1) adds an operation for each piece of at most
  /// 16 KiB that it has received, knows no bound for them, and has no means to pause a transfer: what
  /// is suspended begins anew. But it adds them on the queue on which it receives, so who waits here
  /// keeps it from receiving.
  ///
  /// That queue is the same for all sessions of the process, and it does nothing else until an origin
  /// has nothing more to send at the moment. So nobody waits for longer than `patience`, for a
  /// receiver that stands still; and while the session is to be told something, much more may wait.
  final class HoldingQueue: OperationQueue, @unchecked Sendable {
    // Sendable because what can change is in the lock.
    private static let limit = 64
    private static let limitInHaste = 2_048
    private static let patience = DispatchTimeInterval.milliseconds(20)

    private let queue = DispatchQueue(label: "millpond.http.delegate", qos: .userInitiated)
    private let backlog = Locked(Backlog())
    private let room = DispatchSemaphore(value: 0)
    private let commands: CommandQueue

    init(_ commands: CommandQueue) {
      self.commands = commands
    }

    /// Called by the session, always on one and the same queue.
    override func addOperation(_ block: @escaping @Sendable () -> Void) {
      let limit = commands.isWaiting ? Self.limitInHaste : Self.limit
      if backlog.withLock({ $0.enter(limit: limit) }) { waitForRoom() }
      queue.async { [self] in
        block()
        if backlog.withLock({ $0.leave() }) { room.signal() }
      }
    }

    private func waitForRoom() {
      if room.wait(timeout: .now() + Self.patience) == .success { return }
      // If that came just now, it is for this wait, not for the next one.
      if !backlog.withLock({ $0.giveUp() }) { room.wait() }
    }
  }
#endif
