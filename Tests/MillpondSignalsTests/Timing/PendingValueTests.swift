import MillpondSignals
import Testing

@Suite struct PendingValueTests {
  @Test func `of two values the newer is released, once`() {
    var held = PendingValue<Int>()

    held.hold(1, until: .seconds(1))
    held.hold(2, until: .seconds(2))

    #expect(held.deadline == .seconds(2))
    #expect(held.takeDue(at: .seconds(2)).map { "\($0)" } == "next(2)")
    #expect(held.deadline == nil)
    #expect(held.takeDue(at: .seconds(3)) == nil)
  }

  @Test func `the completion waits behind what is held, which is due at once`() {
    var held = PendingValue<Int>()
    held.hold(1, until: .seconds(9))

    let passes = held.received(.completed, at: .seconds(1)) != nil

    #expect(!passes)
    #expect(held.deadline == .seconds(1))
    #expect(held.takeDue(at: .seconds(1)).map { "\($0)" } == "next(1)")
    #expect(held.deadline == .seconds(1))
    #expect(held.takeDue(at: .seconds(1)).map { "\($0)" } == "completed")
    #expect(held.deadline == nil)
  }

  @Test func `a completion with nothing held, a failure and progress pass`() {
    var held = PendingValue<Int>()
    let completion = held.received(.completed, at: .zero)
    held.hold(1, until: .seconds(9))

    let failure = held.received(.failed(Trouble.some), at: .zero)
    let progress = held.received(.progress(SignalProgress(completed: 1)), at: .zero)

    #expect(completion?.isTerminal == true)
    #expect(failure?.isTerminal == true)
    #expect(progress?.isTerminal == false)
    #expect(held.deadline == .seconds(9))
  }

  @Test func `a dropped value is not sent`() {
    var held = PendingValue<Int>()
    held.hold(1, until: .seconds(1))

    held.drop()

    #expect(held.deadline == nil)
    #expect(held.takeDue(at: .seconds(1)) == nil)
  }
}
