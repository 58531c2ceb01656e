import MillpondCore
import MillpondTesting
import Testing

@Suite struct LayersTests {
  typealias Fold = Layered<
    Layered<MemoryCache<String, Int>, TestCache<String, Int>>, TestOrigin<String, Int>
  >

  let memory = MemoryCache<String, Int>(countLimit: 5)
  let kept = TestCache<String, Int>()
  let origin = TestOrigin<String, Int>()

  private var cache: Fold {
    layers {
      memory
      kept
      origin
    }
  }

  @Test func `layers of several types answer and fill one after the other`() {
    let recorder = Recorder<Int>().subscribe(to: cache.get("a"))

    origin["a"].next(1)
    origin["a"].completed()

    #expect(recorder.transcript == ["next 1", "completed"])
    #expect(memory.now("a", Lookup()) == 1 && kept.contents == ["a": 1])
    #expect(cache.now("a", Lookup()) == 1)
  }

  @Test func `the first layer tells the types of those below it`() {
    let cache = layers {
      memory
      EmptyCache()
      MemoryCache(countLimit: 5)
    }

    cache.set(1, for: "a")
    memory.removeAll()

    #expect(Recorder<Int>().subscribe(to: cache.get("a")).values == [1])
  }

  @Test func `one layer is itself`() {
    let alone: TestCache<String, Int> = layers { kept }

    #expect(alone === kept)
  }
}
