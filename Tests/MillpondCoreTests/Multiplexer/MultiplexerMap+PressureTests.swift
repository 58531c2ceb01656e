import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct MultiplexerMapPressureTests {
  let kept = TestCache<String, Int>()
  let origin = TestOrigin<String, Int>()
  let pressure = PublishSubject<MemoryPressure>()

  @Test func `a map under critical pressure is emptied, and its persistence answers`() {
    let map = MultiplexerMap(over: origin, persistence: Persistence(kept))
      .onMemoryPressure(pressure.signal)
    map.set(1, for: "a")

    pressure.next(.critical)

    #expect(map.current("a") == nil)
    #expect(Recorder<Int>().subscribe(to: map.get("a")).values == [1])
    #expect(origin["a"].subscriptions == 0)
  }

  @Test func `a warning removes half of the values`() {
    let map = MultiplexerMap(over: origin)
    for number in 0..<10 { map.set(number, for: "\(number)") }

    map.relieve(.warning)

    #expect((0..<10).filter { map.current("\($0)") != nil }.count == 5)
  }

  @Test func `a get that runs under pressure is answered`() {
    let map = MultiplexerMap(over: origin).onMemoryPressure(pressure.signal)
    let caller = Recorder<Int>().subscribe(to: map.get("a"))

    pressure.next(.critical)
    origin["a"].next(7)
    origin["a"].completed()

    #expect(caller.values == [7])
    #expect(map.current("a") == 7)
  }

  @Test func `a map is released while the pressure goes on`() {
    weak var released: MultiplexerMap<String, Int>?
    do {
      let map = MultiplexerMap(over: origin).onMemoryPressure(pressure.signal)
      released = map
      #expect(released != nil)
    }

    #expect(released == nil)
  }
}
