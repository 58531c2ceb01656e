import Dispatch
public import MillpondSignals

extension Signal where Value == MemoryPressure? {
  /// Returns the level of `memory` at each look; nil for no pressure.
  ///
  /// - Parameters:
  ///   - memory: The files to read.
  ///   - interval: The time from one look to the next.
  ///   - scheduler: The scheduler of the looks.
  ///   - queue: A serial queue for looks and deliveries.
  static func levels(
    of memory: SystemMemory, checkingEvery interval: Duration, _ scheduler: Scheduler,
    on queue: DispatchQueue = DispatchQueue(label: "millpond.memory-pressure")
  ) -> Signal {
    Signal { observer, lifetime in
      PressureWatch(memory, interval, scheduler, queue, observer, lifetime).begin()
    }
  }
}

/// A series of looks at memory, on a queue of its own: timers of a clock may fire on the
/// cooperative pool, and reading from the kernel may block, especially when memory is short.
///
/// Each look is scheduled after the last one has been delivered, so looks never pile up.
private final class PressureWatch: Sendable {
  let memory: SystemMemory
  let interval: Duration
  let scheduler: Scheduler
  let queue: DispatchQueue
  let observer: Observer<MemoryPressure?>
  let lifetime: Lifetime

  init(
    _ memory: SystemMemory, _ interval: Duration, _ scheduler: Scheduler, _ queue: DispatchQueue,
    _ observer: Observer<MemoryPressure?>, _ lifetime: Lifetime
  ) {
    self.memory = memory
    self.interval = max(interval, .milliseconds(1))
    self.scheduler = scheduler
    self.queue = queue
    self.observer = observer
    self.lifetime = lifetime
  }

  func begin() {
    queue.async { self.look(PressureDetector()) }
  }

  private func look(_ before: PressureDetector) {
    if lifetime.isEnded { return }
    var detector = before
    var tried: [String] = []
    let readings = memory.readings { path in
      let (text, attempt) = UnreadableMemory.read(path)
      tried.append(attempt)
      return text
    }
    if detector.received(readings) {
      observer.next(detector.level)
      wait(detector)
    } else {
      let reason = UnreadableMemory(tried: tried)
      observer.failed(CacheError.unavailable(layer: "memory pressure", underlying: reason))
    }
  }

  private func wait(_ detector: PressureDetector) {
    scheduler.schedule(after: interval, during: lifetime.child()) {
      self.queue.async { self.look(detector) }
    }
  }
}

extension Signal where Value == MemoryPressure {
  /// Returns a signal of memory pressure on this process, which repeats while the pressure lasts.
  ///
  ///     let pressure = Signal<MemoryPressure>.ofSystem()
  ///     let images = memory.onMemoryPressure(pressure)
  ///     let scores = others.onMemoryPressure(pressure)  // shares the watch
  ///
  /// A rise is sent at once: from no pressure, or from a warning to critical. A fall is not sent.
  /// All subscribers of one such signal share one watch, from the first subscription to the end of
  /// the last; a subscriber that arrives under pressure receives the level at once.
  ///
  /// On Apple platforms the system reports the level. On Linux two readings are taken, and the
  /// worse one counts:
  ///
  /// - The memory in use, as a share of the limit of the process's control group (version 2),
  ///   or of a group above it, whichever is tightest; without a limit, as a share of the machine's
  ///   memory. A warning from 90 %, critical from 95 %. Cached files without recent use do not
  ///   count.
  /// - The time that tasks waited for memory in the last ten seconds, in the control group, or on
  ///   the machine if the group does not report it. A warning if some task waited for 10 % of the
  ///   time, critical if all tasks waited at once for 10 % of it.
  ///
  /// A failed signal stays failed; create another one to try again.
  ///
  /// - Parameters:
  ///   - interval: The time between looks on Linux; at least a millisecond. The kernel's averages
  ///     change every two seconds, but a cache can fill up faster.
  ///   - pause: The time after which the level is repeated; at least a millisecond. By default
  ///     three times the period of the kernel's averages, so that the effect of the last relief
  ///     shows in them.
  ///   - clock: The clock that measures both.
  /// - Returns: A signal that does not complete. It fails with
  ///   ``CacheError/unavailable(layer:underlying:)``, which lists the files that were tried, if the
  ///   first look finds nothing about memory.
  /// - Complexity: A look reads about ten short files that the kernel generates without disk
  ///   access.
  /// - Note: Looks and deliveries happen on a queue of the watch or on the clock's thread, never
  ///   inside `subscribe`, except for a subscriber that arrives under pressure.
  /// - Source: thresholds: `PressureThresholds`.
  public static func ofSystem(
    checkingEvery interval: Duration = .seconds(1),
    repeatingEvery pause: Duration = .seconds(30),
    clock: some Clock<Duration> = ContinuousClock()
  ) -> Signal {
    let scheduler = Scheduler(clock)
    return Signal<MemoryPressure?>.systemLevels(checkingEvery: interval, scheduler)
      .alerts(repeatingEvery: pause, scheduler)
  }
}
