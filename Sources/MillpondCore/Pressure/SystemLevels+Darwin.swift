#if canImport(Darwin)
  import Dispatch
  import MillpondSignals

  extension Signal where Value == MemoryPressure? {
    /// Returns the system's level at each change; nil for no pressure.
    ///
    /// - Parameters:
    ///   - interval: Ignored: the system reports changes by itself.
    ///   - scheduler: Ignored.
    static func systemLevels(checkingEvery interval: Duration, _ scheduler: Scheduler) -> Signal {
      Signal { observer, lifetime in
        let source = PressureSource()
        lifetime.onEnd { source.cancel() }
        source.start { observer.next($0) }
      }
    }
  }

  /// Sendable because a dispatch source may be cancelled, and asked for its data, from any thread.
  private final class PressureSource: @unchecked Sendable {
    private let source = DispatchSource.makeMemoryPressureSource(
      eventMask: [.normal, .warning, .critical],
      queue: DispatchQueue(label: "millpond.memory-pressure"))

    /// Starts the source, whose handler retains this object until it is cancelled.
    func start(_ report: @escaping @Sendable (MemoryPressure?) -> Void) {
      source.setEventHandler { report(self.level) }
      source.activate()
    }

    func cancel() {
      source.cancel()
    }

    private var level: MemoryPressure? {
      if source.data.contains(.critical) { return .critical }
      return source.data.contains(.warning) ? .warning : nil
    }
  }
#endif
