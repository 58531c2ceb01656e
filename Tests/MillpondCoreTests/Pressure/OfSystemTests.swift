#if canImport(Glibc) || canImport(Musl)
  import MillpondSignals
  import MillpondTesting
  import Testing

  @testable import MillpondCore

  @Suite struct OfSystemTests {
    static let isReadable = (try? TextFile.read("/proc/meminfo")) != nil

    let clock = ManualClock()

    @Test func `the system at hand gives a reading, or says why not`() async throws {
      let levels = Signal.systemLevels(checkingEvery: .seconds(1), Scheduler(clock))

      let looks = Recorder<MemoryPressure?>().subscribe(to: levels.take(1))

      try await looks.ended()
      if let failure = looks.failure {
        guard case CacheError.unavailable = failure else { throw failure }
      } else {
        #expect(looks.values.count == 1)
      }
    }

    @Test(.enabled(if: isReadable))
    func `a cache listens to the system by one line, and each look is on the clock`() async throws {
      let cache = MemoryCache<String, Int>(countLimit: 5).onMemoryPressure(.ofSystem(clock: clock))

      for _ in 0..<3 {
        try await clock.pending(count: 1)
        clock.advance(by: .seconds(1))
      }

      withExtendedLifetime(cache) {}
    }
  }
#endif
