#if canImport(Glibc) || canImport(Musl)
  import MillpondSignals

  extension Signal where Value == MemoryPressure? {
    /// How short of memory the process is, at each look; nil is calm.
    static func systemLevels(checkingEvery interval: Duration, _ timeline: Timeline) -> Signal {
      levels(of: SystemMemory(), checkingEvery: interval, timeline)
    }
  }
#endif
