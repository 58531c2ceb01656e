import Dispatch
import MillpondSignals

extension SignalLaws {
  /// Feeds each run of the source on a thread of its own, while another one lets time pass.
  func overlapFindings() async -> [String] {
    var findings: [String] = []
    for round in 0..<20 {
      let source = LawSource()
      let recorder = Recorder<Output>()
      recorder.subscribe(to: operation(source.signal())) { _ in dawdle() }
      let end: Event<Int> = round.isMultiple(of: 2) ? .completed : .failed(Failure())
      var bodies: [@Sendable () -> Void] = source.runs.map { run in
        { @Sendable in
          for value in 0..<40 { run.send(.next(value)) }
          run.send(end)
        }
      }
      bodies.append { for _ in 0..<40 { passTime() } }
      if await !onThreads(within: patience, bodies) { findings.append("a thread is stuck") }
      source.end(end, passTime)
      for _ in 0..<3 { passTime() }
      findings += await endFindings(recorder, "on several threads")
    }
    return findings
  }

  /// Sends and lets time pass from inside the first callbacks.
  func reentryFindings() async -> [String] {
    let source = LawSource()
    let recorder = Recorder<Output>()
    let budget = Locked(3)
    let isDone = await onThreads(
      within: patience,
      [
        {
          recorder.subscribe(to: operation(source.signal())) { event in
            let isWithin = budget.withLock {
              $0 -= 1
              return $0 >= 0
            }
            guard isWithin, !event.isTerminal else { return }
            source.send(.next(7))
            passTime()
          }
          for value in 0..<4 {
            source.send(.next(value))
            passTime()
          }
          source.end(.completed, passTime)
          passTime()
        }
      ])
    if !isDone { return ["sending from inside a callback is stuck"] }
    return await endFindings(recorder, "sending from inside a callback")
  }

  /// The foreign lock: a callback wants a lock that is held by a thread that sends, lets time pass
  /// or leaves.
  func lockFindings() async -> [String] {
    var findings: [String] = []
    for deed in LawDeed.allCases {
      let source = LawSource()
      let recorder = Recorder<Output>()
      let lock = ForeignLock(patience)
      let time = passTime
      let isDone = await onThreads(
        within: patience * 4,
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

/// What is done while the callback's lock is held.
enum LawDeed: String, CaseIterable {
  case send
  case passTime = "pass time"
  case dispose
}

/// A lock of somebody else's that a callback wants while another thread holds it.
private final class ForeignLock: Sendable {
  enum Outcome: Sendable {
    case neverCalled, free, stuck
  }

  private let lock = DispatchSemaphore(value: 1)
  private let isInCallback = DispatchSemaphore(value: 0)
  private let isHeld = DispatchSemaphore(value: 0)
  private let state = Locked(Outcome.neverCalled)
  private let wasCalled = Locked(false)
  private let patience: Duration

  init(_ patience: Duration) {
    self.patience = patience
  }

  var outcome: Outcome {
    state.withLock { $0 }
  }

  /// Wants the lock, the first time it is called.
  func callback() {
    let isFirst = wasCalled.withLock { wasCalled in
      defer { wasCalled = true }
      return !wasCalled
    }
    guard isFirst else { return }
    isInCallback.signal()
    _ = isHeld.wait(timeout: limit)
    let isFree = lock.wait(timeout: limit) == .success
    if isFree { lock.signal() }
    state.withLock { $0 = isFree ? .free : .stuck }
  }

  func holdDuringCallback(_ act: () -> Void) {
    guard isInCallback.wait(timeout: limit) == .success else { return }
    lock.wait()
    isHeld.signal()
    act()
    lock.signal()
  }

  private var limit: DispatchTime {
    .now() + .nanoseconds(patience.nanoseconds)
  }
}

/// Takes a moment, so that another delivery has the time to overlap.
private func dawdle() {
  let moment = Locked(0)
  for _ in 0..<200 { moment.withLock { $0 += 1 } }
}
