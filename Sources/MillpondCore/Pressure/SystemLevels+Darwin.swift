#if canImport(Darwin)
  import Dispatch
  import MillpondSignals

  extension Signal where Value == MemoryPressure? {
    /// How short of memory the system is, at each change; nil is calm.
    ///
    /// - Parameter interval: Nothing has to be looked at: the system tells by itself.
    static func systemLevels(checkingEvery interval: Duration, _ timeline: Timeline) -> Signal {
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

    /// The handler keeps this, until it is let go of by cancelling.
    func start(_ tell: @escaping @Sendable (MemoryPressure?) -> Void) {
      source.setEventHandler { tell(self.level) }
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
