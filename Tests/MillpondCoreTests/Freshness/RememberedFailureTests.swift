import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

/// Failures that are remembered for a while.
@Suite struct RememberedFailureTests {
  let scene = RememberedScene(.ten { $0 is Refused ? .seconds(5) : .zero })

  @Test func `a failure is not remembered unless the policy says so`() {
    _ = scene.ask()
    scene.fail(Offline())

    let next = scene.ask()

    #expect(next.end == nil)
    #expect(scene.fetches.count == 2)
  }

  @Test func `a failure is the answer for its life, and no longer`() {
    _ = scene.ask()
    scene.fail(Refused())

    scene.clock.advance(by: .seconds(4))
    #expect(scene.ask().failure is Refused)
    #expect(scene.fetches.count == 1)
    scene.clock.advance(by: .seconds(1))
    _ = scene.ask()
    #expect(scene.fetches.count == 2)
  }

  @Test func `a reload asks anyway, and what it brings ends the failure`() {
    _ = scene.ask()
    scene.fail(Refused())

    let reload = scene.ask(freshness: .reload)
    scene.answer(2)

    #expect(reload.values == [2])
    #expect(scene.ask().values == [2])
  }

  @Test func `what is told ends the failure`() {
    _ = scene.ask()
    scene.fail(Refused())

    scene.users.remove("a")
    _ = scene.ask()

    #expect(scene.fetches.count == 2)
  }

  @Test func `a failure that comes after the key was told is not remembered`() {
    _ = scene.ask()
    scene.users.remove("a")
    scene.fail(Refused())

    _ = scene.ask()

    #expect(scene.fetches.count == 2)
  }

  @Test func `a stale value stands in for a remembered failure as for a new one`() {
    let scene = RememberedScene(
      .ten(stale: .onAnyError) { $0 is Refused ? .seconds(5) : .zero }, age: .seconds(11))
    _ = scene.ask()
    scene.fail(Refused())

    let next = scene.ask()

    #expect(next.values == [1])
    #expect(next.isCompleted)
    #expect(scene.fetches.count == 2)
  }
}
