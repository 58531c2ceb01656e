import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct MappedKeysTests {
  let base = TestCache<String, Int>()
  let recorder = Recorder<Int>()

  struct Odd: Error {}

  private var cache: MappedKeys<TestCache<String, Int>, Int> {
    base.mapKeys { number in
      guard number.isMultiple(of: 2) else { throw Odd() }
      return "n\(number)"
    }
  }

  @Test func `an error of the transform fails the get unchanged`() {
    recorder.subscribe(to: cache.get(1))

    #expect(recorder.failure is Odd)
    #expect(base.gets == [])
  }

  @Test func `an error of the transform fails a set and a removal, and the base is not written`() {
    let set = Recorder<Void>().subscribe(to: cache.set(5, for: 1))
    let removed = Recorder<Void>().subscribe(to: cache.remove(1))

    #expect(set.failure is Odd && removed.failure is Odd)
    #expect(base.contents == [:])
  }

  @Test func `a key that can be transformed is read and written as before`() {
    cache.set(5, for: 2)

    #expect(base.contents == ["n2": 5])
    #expect(recorder.subscribe(to: cache.get(2)).values == [5])
  }

  @Test func `a lower layer answers for a key that can't be turned, and is not stored above`() {
    let lower = TestCache<Int, Int>()
    lower.set(7, for: 1)

    recorder.subscribe(to: cache.layered(over: lower).get(1))

    #expect(recorder.transcript == ["next 7", "completed"])
    #expect(base.contents == [:])
  }
}
