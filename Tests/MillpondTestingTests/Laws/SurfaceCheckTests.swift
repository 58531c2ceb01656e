import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct SurfaceCheckTests {
  @Test func `a cache that answers now what it does not store is found out`() {
    let check = SurfaceCheck(Disagreeing(isSet: true))

    #expect(check.disagreements(about: 1).count == 1)
    #expect(check.traces(of: [1]).first == "now of 1 shows 2")
    #expect(check.traces(of: [1]).count == 3)
  }

  @Test func `a cache whose ways agree is not`() {
    let memory = MemoryCache<Int, Int>(countLimit: 2)
    memory.set(1, for: 1)
    let map = MultiplexerMap<Int, Int>(persistence: Persistence(TestCache<Int, Int>())) { $0 }
    map.set(1, for: 1)

    #expect(SurfaceCheck(memory).disagreements(about: 1) == [])
    #expect(SurfaceCheck(map).disagreements(about: 1) == [])
    #expect(SurfaceCheck(memory).traces(of: [2]) == [])
  }
}

private struct Disagreeing: Cache {
  let isSet: Bool

  func get(_ key: Int, _ lookup: Lookup) -> Signal<Int> { .just(1) }
  func now(_ key: Int, _ lookup: Lookup) -> Int? { isSet ? 2 : nil }
  func apply(_ change: Change<Int, Int>) -> Signal<Void> { .just(()) }
}
