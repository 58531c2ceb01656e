import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Stale values in place of absent or late ones.
@Suite struct RememberedStaleTests {
  @Test func `a stale value answers with its true age if the origin cannot be reached`() {
    let scene = RememberedScene(.ten(), age: .seconds(11))
    let caller = scene.getAge()

    scene.clock.advance(by: .seconds(1))
    scene.fail(Offline())

    #expect(caller.values == [Stamped(1, age: .seconds(12))])
    #expect(caller.isCompleted)
  }

  @Test func `a stale answer is not stamped fresh, so that the next get fetches again`() {
    let scene = RememberedScene(.ten(), age: .seconds(11))
    _ = scene.get()
    scene.fail(Offline())

    let next = scene.get()
    scene.answer(2)

    #expect(next.values == [2])
    #expect(scene.fetches.count == 3)
  }

  @Test
  func `an error that permits no stale value fails the get, and the value stays for the next one`()
  {
    let scene = RememberedScene(.ten(), age: .seconds(11))
    let caller = scene.get()
    scene.fail(Refused())
    let next = scene.get()
    scene.fail(Offline())

    #expect(caller.values.isEmpty)
    #expect(caller.failure is Refused)
    #expect(next.values == [1])
  }

  @Test func `which failures a stale value stands in for is up to the policy`() {
    let scene = RememberedScene(
      FreshnessPolicy(freshFor: .after(.seconds(10)), staleOn: { $0 is Refused }),
      age: .seconds(11))
    let refused = scene.get()
    scene.fail(Refused())
    let offline = scene.get()
    scene.fail(Offline())

    #expect(refused.values == [1])
    #expect(offline.failure is Offline)
  }

  @Test func `a caller that allows it gets the stale value on any failure`() {
    let scene = RememberedScene(.ten(), age: .seconds(11))
    let caller = scene.get(stale: .onAnyError)

    scene.fail(Refused())

    #expect(caller.values == [1])
    #expect(caller.isCompleted)
  }

  @Test func `a caller that wants no stale value gets none, though others do`() {
    let scene = RememberedScene(.ten(), age: .seconds(11))
    let strict = scene.get(stale: .never)
    let other = scene.get()

    scene.fail(Offline())

    #expect(strict.failure is Offline)
    #expect(other.values == [1])
    #expect(scene.fetches.count == 2)
  }

  @Test func `a value that is no longer usable never stands in`() {
    let scene = RememberedScene(.ten(usableFor: .after(.seconds(60))), age: .seconds(60))
    let caller = scene.get()

    scene.fail(Offline())

    #expect(caller.failure is Offline)
  }

  @Test func `a get with a greatest age gets nothing older unless it allows a stale value`() {
    let scene = RememberedScene(.ten(), age: .seconds(5))
    let strict = scene.get(freshness: .atMost(.seconds(1)))
    let mild = scene.get(freshness: .atMost(.seconds(1)), stale: .onNamedErrors)

    scene.fail(Offline())

    #expect(strict.failure is Offline)
    #expect(mild.values == [1])
  }

  @Test func `at once: the stale value, then the new one`() {
    let scene = RememberedScene(.ten(stale: .atOnce), age: .seconds(11))
    let caller = scene.get()
    #expect(caller.values == [1])

    scene.answer(2)

    #expect(caller.values == [1, 2])
    #expect(caller.isCompleted)
  }

  @Test func `a late joiner gets the stale value too, with its age at that time`() {
    let scene = RememberedScene(.ten(stale: .atOnce), age: .seconds(11))
    _ = scene.getAge()

    scene.clock.advance(by: .seconds(3))
    let late = scene.getAge()

    #expect(late.values == [Stamped(1, age: .seconds(14))])
    #expect(scene.fetches.count == 2)
  }

  @Test func `a new value that can't be had does not spoil the stale one`() {
    let scene = RememberedScene(.ten(stale: .atOnce), age: .seconds(11))
    let caller = scene.get()

    scene.fail(Offline())

    #expect(caller.values == [1])
    #expect(caller.isCompleted)
  }

  @Test func `a failure that the policy does not name ends the signal after the stale value`() {
    let scene = RememberedScene(.ten(stale: .atOnce), age: .seconds(11))
    let caller = scene.get()

    scene.fail(Refused())

    #expect(caller.values == [1])
    #expect(caller.failure is Refused)
  }

  @Test func `a new value that comes in time is the only one`() {
    let scene = RememberedScene(.ten(), age: .seconds(11))
    let caller = scene.get(stale: .after(.seconds(2)))

    scene.clock.advance(by: .seconds(1))
    scene.answer(2)
    scene.clock.advance(by: .seconds(2))

    #expect(caller.values == [2])
  }

  @Test func `a new value that takes too long follows the stale one`() {
    let scene = RememberedScene(.ten(), age: .seconds(11))
    let caller = scene.get(stale: .after(.seconds(2)))

    scene.clock.advance(by: .seconds(2))
    #expect(caller.values == [1])
    scene.answer(2)

    #expect(caller.values == [1, 2])
    #expect(caller.isCompleted)
  }

  @Test func `timeLimit has nothing to do where there is nothing stale`() {
    let scene = RememberedScene(.ten())
    let caller = scene.get(stale: .after(.seconds(2)))

    scene.clock.advance(by: .seconds(3))
    #expect(caller.values.isEmpty)
    scene.fail(Offline())

    #expect(caller.failure is Offline)
  }

  @Test func `a reload does not pass a stale value for a new one, unless its caller allows it`() {
    let scene = RememberedScene(.ten(), age: .seconds(1))
    let strict = scene.get(freshness: .reload)
    let mild = scene.get(freshness: .reload, stale: .onNamedErrors)

    scene.fail(Offline())
    scene.fail(Offline())

    #expect(strict.failure is Offline)
    #expect(mild.values == [1])
  }

  @Test(arguments: [StaleUse.never, .onNamedErrors, .onAnyError, .after(.seconds(1)), .atOnce])
  func `silence belongs to the caller that leaves`(use: StaleUse) {
    let scene = RememberedScene(.ten(), age: .seconds(11))
    let caller = scene.get(stale: use)
    let before = caller.values

    caller.dispose()
    scene.fail(Offline())
    scene.clock.advance(by: .seconds(5))

    #expect(caller.values == before)
    #expect(caller.end == nil)
  }
}
