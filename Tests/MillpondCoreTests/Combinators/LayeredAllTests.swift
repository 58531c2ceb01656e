import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct LayeredAllTests {
  let layers = (0..<4).map { _ in TestCache<String, Int>() }
  let recorder = Recorder<Int>()

  @Test func `the first that has the value answers, and those above keep it`() {
    layers[2].set(2, for: "a")
    layers[3].set(3, for: "a")

    recorder.subscribe(to: AnyCache(layering: layers.map { AnyCache($0) }).get("a"))

    #expect(recorder.transcript == ["next 2", "completed"])
    #expect(layers.map { $0.contents["a"] } == [2, 2, 2, 3])
  }

  @Test func `all caches are notified`() {
    let all = AnyCache(layering: layers.map { AnyCache($0) })
    all.set(1, for: "a")
    #expect(layers.allSatisfy { $0.contents == ["a": 1] })

    all.removeAll()
    #expect(layers.allSatisfy { $0.contents.isEmpty })
  }

  @Test func `of none it is a cache of nothing`() {
    let none = AnyCache<String, Int>(layering: [])
    none.set(1, for: "a")

    recorder.subscribe(to: none.get("a"))

    #expect(recorder.transcript == ["completed"])
  }

  @Test func `a source may come last`() {
    let origin = TestOrigin<String, Int>()
    recorder.subscribe(
      to: AnyCache(layering: [AnyCache(layers[0]), AnyCache(origin)]).get("a"))

    origin["a"].next(1)

    #expect(recorder.values == [1])
    #expect(layers[0].contents == ["a": 1])
  }
}
