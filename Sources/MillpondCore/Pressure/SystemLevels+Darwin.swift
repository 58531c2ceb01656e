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
        // A dispatch source may be cancelled, and asked for its data, from any thread.
        let source = SerialState(
          DispatchSource.makeMemoryPressureSource(
            eventMask: [.normal, .warning, .critical],
            queue: DispatchQueue(label: "millpond.memory-pressure")))
        lifetime.onEnd { source.value.cancel() }
        // The handler retains the source until it is cancelled.
        source.value.setEventHandler { observer.next(source.value.level) }
        source.value.activate()
      }
    }
  }

  extension DispatchSourceMemoryPressure {
    fileprivate var level: MemoryPressure? {
      if data.contains(.critical) { return .critical }
      return data.contains(.warning) ? .warning : nil
    }
  }
#endif
