import Dispatch
public import MillpondSignals

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

extension Signal where Value == MemoryPressure {
  /// Tells when this process gets short of memory, and again from time to time while it stays so.
  ///
  ///     let pressure = Signal<MemoryPressure>.ofSystem()
  ///     let images = memory.onMemoryPressure(pressure)
  ///     let scores = others.onMemoryPressure(pressure)  // shares the watch
  ///
  /// A rise is told at once: from calm, or from a warning to critical. A fall is not told. All who
  /// subscribe to one such signal share one watch, which begins with the first of them and ends
  /// with the last; who comes while memory is short is told so at once.
  ///
  /// On Apple platforms the system says when. On Linux two things are looked at, and the worse one
  /// counts:
  ///
  /// - How much is in use of what may be: of the limit of the process's control group, version 1
  ///   or 2, or of one above it, whichever has the least room in proportion; without a limit, of
  ///   the machine's memory. A warning from 90 %, critical from 95 %. Files that the kernel
  ///   keeps in memory and has not used of late don't count as use.
  /// - How long tasks have waited for memory in the last ten seconds, in the control group, or on
  ///   the machine where the group doesn't tell. A warning when some waited for 10 % of the time,
  ///   critical when all did.
  ///
  /// A signal that has failed stays so; ask for another to try again.
  ///
  /// - Parameters:
  ///   - interval: How long after one look, on Linux, the next one is taken. The kernel's
  ///     averages change every two seconds, but a cache can fill up faster. Less than a
  ///     millisecond is taken as that.
  ///   - pause: After how long it is told again that memory is short. By default three times as
  ///     long as the kernel's averages look back, so that what was let go of last time has shown.
  ///     Less than a millisecond is taken as that.
  ///   - clock: What times both.
  /// - Returns: A signal that doesn't complete. It fails with
  ///   ``CacheError/unavailable(layer:underlying:)``, which lists what was tried, where the first
  ///   look finds nothing that tells of memory.
  /// - Complexity: A look reads about ten short files; the kernel makes them up, no disk is asked.
  /// - Note: Looks are taken, and values sent, on a queue of the watch, or on the clock's
  ///   thread; never on the subscriber's, nor inside the call that subscribes, except for who
  ///   comes while memory is short already.
  /// - Source: thresholds: `PressureThresholds`.
  public static func ofSystem(
    checkingEvery interval: Duration = .seconds(1),
    repeatingEvery pause: Duration = .seconds(30),
    clock: some Clock<Duration> = ContinuousClock()
  ) -> Signal {
    let timeline = Timeline(clock)
    return Signal<MemoryPressure?>.systemLevels(checkingEvery: interval, timeline)
      .alerts(repeatingEvery: pause, timeline)
  }
}
