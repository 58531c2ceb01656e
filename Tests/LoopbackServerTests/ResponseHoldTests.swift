import Synchronization
import Testing

@testable import LoopbackServer

@Suite struct ResponseHoldTests {
  private final class Count: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }

    func add() { count.add(1, ordering: .relaxed) }
  }

  private let hold = ResponseHold()
  private let count = Count()

  @Test func `release wakes each waiting one once`() {
    let ids = (0..<3).map { _ in hold.addWaker(count.add) }

    hold.release()
    hold.release()

    #expect(Set(ids).count == 3)
    #expect(count.value == 3)
    #expect(hold.isReleased)
  }

  @Test func `a waiter that has left is not woken`() throws {
    let id = try #require(hold.addWaker(count.add))

    hold.removeWaker(id)
    hold.release()

    #expect(count.value == 0)
  }

  @Test func `after the release no response waits`() {
    hold.release()

    #expect(hold.addWaker(count.add) == nil)
    #expect(count.value == 0)
  }
}
