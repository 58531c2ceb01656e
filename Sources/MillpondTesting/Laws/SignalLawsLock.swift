import Dispatch
import MillpondSignals

extension SignalLaws {
  /// Checks a foreign lock: a callback takes a lock whose holder sends, passes time or disposes.
  func lockFindings() async -> [String] {
    var findings: [String] = []
    for deed in LockHolderAction.allCases {
      let source = LawSource()
      let recorder = Recorder<Output>()
      let lock = ForeignLock(timeLimit)
      let time = passTime
      let isDone = await onThreads(
        within: timeLimit * 4,
        [
          {
            recorder.subscribe(to: operation(source.signal())) { _ in lock.callback() }
            for value in 0..<3 {
              source.send(.next(value))
              time()
            }
            source.end(.completed, time)
          },
          {
            lock.holdDuringCallback {
              switch deed {
              case .send: source.send(.next(8))
              case .passTime: time()
              case .dispose: recorder.dispose()
              }
            }
          },
        ])
      passTime()
      recorder.dispose()
      switch (isDone, lock.outcome) {
      case (true, .free): break
      case (true, .neverCalled): findings.append("nothing was delivered, so no lock was tried")
      default: findings.append("a thread that holds a lock waits for a callback, to \(deed)")
      }
    }
    return findings
  }
}

/// The action of the thread that holds the callback's lock.
enum LockHolderAction: String, CaseIterable {
  case send
  case passTime = "pass time"
  case dispose
}

/// A foreign lock that a callback takes while another thread holds it.
private final class ForeignLock: Sendable {
  enum Outcome: Sendable {
    case neverCalled, free, stuck
  }

  private let lock = DispatchSemaphore(value: 1)
  private let isInCallback = DispatchSemaphore(value: 0)
  private let isHeld = DispatchSemaphore(value: 0)
  private let isOver = DispatchSemaphore(value: 0)
  private let state = Locked(Outcome.neverCalled)
  private let wasCalled = Locked(false)
  private let timeLimit: Duration

  init(_ timeLimit: Duration) {
    self.timeLimit = timeLimit
  }

  var outcome: Outcome {
    state.withLock { $0 }
  }

  /// Takes the lock on the first call.
  func callback() {
    if wasCalled.withLock({ exchange(&$0, with: true) }) { return }
    isInCallback.signal()
    _ = isHeld.wait(timeout: limit)
    let isFree = lock.wait(timeout: limit) == .success
    if isFree { lock.signal() }
    state.withLock { $0 = isFree ? .free : .stuck }
    isOver.signal()
  }

  /// Acts while the callback waits for the lock, and then waits for the end of the callback.
  ///
  /// A callback on a third thread may end last.
  func holdDuringCallback(_ act: () -> Void) {
    guard isInCallback.wait(timeout: limit) == .success else { return }
    lock.wait()
    isHeld.signal()
    act()
    lock.signal()
    _ = isOver.wait(timeout: limit)
  }

  private var limit: DispatchTime {
    .now() + .nanoseconds(timeLimit.nanoseconds)
  }
}
