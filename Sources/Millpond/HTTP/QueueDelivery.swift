import Dispatch
import MillpondSignals

extension Signal {
  /// Delivers in the background, as `receive(on:)` does on a queue, but wakes no thread without
  /// need.
  ///
  /// A value waits for the end, and the progress of a small body leaves out its first and last
  /// step. Of waiting progress, only the latest is delivered.
  ///
  /// - Parameter inBackground: Runs work on another thread.
  func conflated(
    _ inBackground: @escaping QueueDelivery<Value>.Background = {
      runInBackground(qos: .userInitiated, $0)
    }
  ) -> Signal {
    Signal { observer, lifetime in
      let delivery = QueueDelivery(observer, lifetime, inBackground)
      run(delivery.observer, delivery.upstream)
    }
  }
}

final class QueueDelivery<Value: Sendable>: Sendable {
  typealias Background = @Sendable (@escaping @Sendable () -> Void) -> Void

  let upstream: Lifetime
  private let subscriber: Lifetime
  private let downstream: Observer<Value>
  private let inBackground: Background
  private let state = Locked(State())

  private struct State: Sendable {
    var waiting = Waiting()
    var hasJob = false
  }

  private struct Waiting: Sendable {
    var progress: SignalProgress?
    var value: Value?
    var end: Event<Never>?
  }

  init(_ downstream: Observer<Value>, _ subscriber: Lifetime, _ inBackground: @escaping Background)
  {
    self.downstream = downstream
    self.subscriber = subscriber
    self.inBackground = inBackground
    upstream = subscriber.child()
  }

  var observer: Observer<Value> {
    Observer(
      next: { value in self.state.withLock { $0.waiting.value = value } },
      other: { self.receive($0) })
  }

  private func receive(_ event: Event<Never>) {
    if case .progress(let progress) = event, progress.isHardlyAny { return }
    let needsJob = state.withLock { state in
      if case .progress(let progress) = event {
        state.waiting.progress = progress
      } else {
        state.waiting.end = event
      }
      return !exchange(&state.hasJob, with: true)
    }
    if needsJob { inBackground { self.drain() } }
  }

  private func drain() {
    while let waiting = takeWaiting() {
      if let progress = waiting.progress, !subscriber.isEnded { downstream.progress(progress) }
      guard let end = waiting.end else { continue }
      upstream.end()
      if let value = waiting.value, !subscriber.isEnded { downstream.next(value) }
      if !subscriber.isEnded { downstream.other(end) }
    }
  }

  /// Returns the waiting events; nil if there are none, which ends the job.
  private func takeWaiting() -> Waiting? {
    state.withLock { state in
      var ready = state.waiting
      state.waiting.progress = nil
      if ready.end == nil {
        ready.value = nil
      } else {
        state.waiting = Waiting()
      }
      state.hasJob = ready.end != nil || ready.progress != nil
      return state.hasJob ? ready : nil
    }
  }
}

extension SignalProgress {
  /// Whether this is the first or the last step of a small body.
  fileprivate var isHardlyAny: Bool {
    guard let total, total <= 64 << 10 else { return false }
    return completed <= 0 || completed >= total
  }
}
