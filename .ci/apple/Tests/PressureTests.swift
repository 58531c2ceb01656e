import Dispatch
import DispatchAdditions
import MillpondTesting
import Synchronization
import Testing

@testable import MillpondCore
@testable import MillpondSignals

/// The source of the system's pressure on Apple's platforms, with a stand-in for the system.
@Suite(.serialized) struct PressureTests {
  private func levels() -> Signal<MemoryPressure?> {
    .systemLevels(checkingEvery: .seconds(1), Scheduler(ContinuousClock()))
  }

  @Test func `each level of the system is sent, and none for no pressure`() {
    let recorder = Recorder<MemoryPressure?>().subscribe(to: levels())

    for event in [DispatchSource.MemoryPressureEvent.warning, .critical, .normal] {
      PressureStandIn.send(event)
    }

    #expect(recorder.values == [.warning, .critical, nil])
    recorder.dispose()
  }

  @Test func `disposal cancels the source, and nothing is sent after it`() {
    let before = PressureStandIn.activeCount
    let recorder = Recorder<MemoryPressure?>().subscribe(to: levels())
    #expect(PressureStandIn.activeCount == before + 1)

    recorder.dispose()
    PressureStandIn.send(.critical)

    #expect(PressureStandIn.activeCount == before)
    #expect(recorder.values.isEmpty)
  }

  @Test func `a cache that follows the system is relieved, and released after use`() async throws {
    let before = PressureStandIn.activeCount
    weak var released: MemoryCache<Int, Int>?
    do {
      let cache = MemoryCache<Int, Int>(countLimit: 10).onMemoryPressure(.ofSystem())
      released = cache
      cache.set(1, for: 1)

      PressureStandIn.send(.critical)

      #expect(cache.count == 0)
    }
    #expect(released == nil)
    #expect(PressureStandIn.activeCount == before)
  }
}
