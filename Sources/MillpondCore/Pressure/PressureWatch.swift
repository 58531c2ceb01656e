import Dispatch
import MillpondSignals

extension Signal where Value == MemoryPressure? {
  /// What is judged of `memory` at each look; nil is calm.
  ///
  /// - Parameter queue: A serial one, where looks are taken and told of.
  static func levels(
    of memory: SystemMemory, checkingEvery interval: Duration, _ timeline: Timeline,
    on queue: DispatchQueue = DispatchQueue(label: "millpond.memory-pressure")
  ) -> Signal {
    Signal { observer, lifetime in
      PressureWatch(memory, interval, timeline, queue, observer, lifetime).begin()
    }
  }
}

/// Looks at memory again and again, on a queue for it: a clock's timers may fire on the
/// cooperative pool, and what reads from the kernel may have to wait, just when memory is short.
///
/// The next look is set after the last one has been told of, so that they never pile up.
private final class PressureWatch: Sendable {
  let memory: SystemMemory
  let interval: Duration
  let timeline: Timeline
  let queue: DispatchQueue
  let observer: Observer<MemoryPressure?>
  let lifetime: Lifetime

  init(
    _ memory: SystemMemory, _ interval: Duration, _ timeline: Timeline, _ queue: DispatchQueue,
    _ observer: Observer<MemoryPressure?>, _ lifetime: Lifetime
  ) {
    self.memory = memory
    self.interval = max(interval, .milliseconds(1))
    self.timeline = timeline
    self.queue = queue
    self.observer = observer
    self.lifetime = lifetime
  }

  func begin() {
    queue.async { self.look(PressureJudge()) }
  }

  private func look(_ before: PressureJudge) {
    if lifetime.isEnded { return }
    var judge = before
    var tried: [UnreadableMemory.Attempt] = []
    let readings = memory.readings { path in
      let (text, attempt) = UnreadableMemory.read(path)
      tried.append(attempt)
      return text
    }
    if judge.received(readings) {
      observer.next(judge.level)
      wait(judge)
    } else {
      let reason = UnreadableMemory(tried: tried)
      observer.failed(CacheError.unavailable(layer: "memory pressure", underlying: reason))
    }
  }

  private func wait(_ judge: PressureJudge) {
    let pause = lifetime.child()
    let timer = timeline.schedule(after: interval) {
      pause.end()
      self.queue.async { self.look(judge) }
    }
    pause.onEnd { timer.dispose() }
  }
}
