import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Values that cease to be fresh or usable during a wait, at one moment, or when a clock is set.
@Suite struct RememberedTimeTests {
  let usable = FreshnessPolicy.ten(usableFor: .after(.seconds(60)))

  @Test func `a get whose fetch fails late gets no value that has ceased to be usable meanwhile`() {
    let scene = RememberedScene(usable, age: .seconds(50))
    let get = scene.get()

    scene.clock.advance(by: .seconds(10))
    scene.fail(Offline())

    #expect(get.values.isEmpty)
    #expect(get.failure is Offline)
  }

  @Test func `a get that joins late gets no value that has ceased to be usable meanwhile`() {
    let scene = RememberedScene(usable, age: .seconds(50))
    let first = scene.get()
    scene.clock.advance(by: .seconds(10))

    let late = scene.get(stale: .atOnce)

    #expect(late.values.isEmpty)
    scene.answer(2)
    #expect(late.transcript == ["next 2", "completed"])
    #expect(first.values == [2])
  }

  @Test func `timeLimit that ends when a value has ceased to be usable sends nothing`() {
    let scene = RememberedScene(usable, age: .seconds(55))
    let get = scene.get(stale: .after(.seconds(6)))

    scene.clock.advance(by: .seconds(6))

    #expect(get.values.isEmpty)
    scene.answer(2)
    #expect(get.transcript == ["next 2", "completed"])
  }

  @Test func `a value set right after all were marked stale is fresh`() {
    let scene = RememberedScene(.ten())

    scene.users.markAllStale()
    scene.users.set(5, for: "a")
    scene.clock.advance(by: .seconds(9))

    #expect(scene.get().values == [5])
    #expect(scene.fetches.isEmpty)
  }

  @Test func `a value fetched right after all were marked stale is fresh`() {
    let scene = RememberedScene(.ten(), age: .seconds(1))
    scene.users.markAllStale()
    for value in 2...4 {
      _ = scene.get()
      scene.answer(value)
      scene.clock.advance(by: .milliseconds(1))
    }

    #expect(scene.get().values == [2])
    #expect(scene.fetches.count == 2)
  }

  @Test func `a value set right before all were marked stale is fetched anew`() {
    let scene = RememberedScene(.ten())
    scene.users.set(5, for: "a")

    scene.users.markAllStale()

    #expect(scene.get().values.isEmpty)
    #expect(scene.fetches.count == 1)
  }

  @Test func `a clock that is set back a little expires nothing`() {
    let scene = RememberedScene(.ten(), age: .seconds(5))
    scene.clock.step(by: .seconds(-7))
    #expect(scene.get().values == [1])

    scene.clock.step(by: .seconds(20))
    scene.users.markAllStale()
    scene.users.set(6, for: "a")
    scene.clock.advance(by: .seconds(1))
    scene.clock.step(by: .seconds(-3))

    #expect(scene.get().values == [6])
    #expect(scene.fetches.count == 1)
  }

  @Test(arguments: 0..<20)
  func `whichever way a clock jumps, every get ends when its fetch has ended`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let scene = RememberedScene(.ten(usableFor: .after(.seconds(30)), refreshAhead: .seconds(1)))
    var gets: [Recorder<Int>] = []
    let freshness: [Freshness] = [.any, .atMost(.zero), .atMost(.seconds(4)), .reload, .cachedOnly]
    let uses: [StaleUse?] = [nil, .never, .onAnyError, .atOnce, .after(.seconds(2))]

    for step in 0..<200 {
      scene.clock.step(by: .seconds(Int.random(in: -20...20, using: &generator)))
      gets.append(
        scene.get(
          freshness: freshness[Int.random(in: 0..<5, using: &generator)],
          stale: uses[Int.random(in: 0..<5, using: &generator)]))
      switch Int.random(in: 0..<6, using: &generator) {
      case 0, 1: scene.answer(step)
      case 2: scene.fail(Offline())
      case 3: scene.users.markAllStale()
      case 4: scene.users.set(step, for: "a")
      default: break
      }
    }
    for _ in 0..<10 { scene.answer(-1) }

    #expect(gets.allSatisfy { $0.end != nil && $0.violations.isEmpty })
  }
}
