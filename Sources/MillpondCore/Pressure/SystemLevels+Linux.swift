#if canImport(Glibc) || canImport(Musl)
  import MillpondSignals

  extension Signal where Value == MemoryPressure? {
    /// Returns the level of the process at each look; nil for no pressure.
    static func systemLevels(checkingEvery interval: Duration, _ scheduler: Scheduler) -> Signal {
      levels(of: SystemMemory(), checkingEvery: interval, scheduler)
    }
  }
#endif
