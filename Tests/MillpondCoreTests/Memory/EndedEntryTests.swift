import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

/// An entry that ends between the looks of a get.
@Suite struct EndedEntryTests {
  @Test func `a get whose entry has just ended starts none for others`() {
    let memory = MemoryCache<Int, Int>(countLimit: 4)
    let flights = memory.makeFlights()
    let second = Recorder<Int>()

    // What a get does when the entry that it saw has ended since.
    let get = Recorder<Stamped<Int>>().subscribe(to: memory.joinFlight(1, Lookup()))
    second.subscribe(to: memory.signal(for: 1) { .just(5) })

    #expect(get.isCompleted && get.values.isEmpty)
    #expect(flights.keys.isEmpty)
    #expect(second.values == [5])
  }
}
