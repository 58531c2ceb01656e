import Testing

@testable import Millpond

@Suite struct BacklogTests {
  private var backlog = Backlog()

  /// What they are told who bring so many.
  private mutating func enter(_ count: Int) -> [Bool] {
    (0..<count).map { _ in backlog.enter(limit: 4) }
  }

  private mutating func leave(_ count: Int) -> [Bool] {
    (0..<count).map { _ in backlog.leave() }
  }

  @Test mutating func `only who brings more than the limit waits`() {
    let waits = enter(5)

    #expect(waits == [false, false, false, false, true])
  }

  @Test mutating func `who waits is woken once, when half is done`() {
    _ = enter(5)

    let wakes = leave(5)

    #expect(wakes == [false, false, true, false, false])
  }

  @Test mutating func `nobody is woken where nobody waits`() {
    _ = enter(4)

    let wakes = leave(4)

    #expect(wakes == [false, false, false, false])
  }

  @Test mutating func `who has given up is not woken, and waits again with the next`() {
    _ = enter(5)

    let hasGivenUp = backlog.giveUp()

    let (wakes, waits) = (leave(1), enter(1))
    #expect(hasGivenUp)
    #expect(wakes == [false])
    #expect(waits == [true])
  }

  @Test mutating func `who was woken can't give up any more`() {
    _ = enter(5)
    _ = leave(3)

    let hasGivenUp = backlog.giveUp()

    #expect(!hasGivenUp)
  }

  @Test mutating func `in haste more may wait, and who waited is let in`() {
    _ = enter(5)

    let waits = (backlog.enter(limit: 8), backlog.enter(limit: 4))

    #expect(waits == (false, true))
  }
}
