import MillpondSignals
import Testing

@testable import MillpondCore

/// A store that has to wait for the room of others.
@Suite struct CrowdedStoreTests {
  @Test(arguments: [true, false])
  func `a value that waits for room keeps the last write of its key`(isFill: Bool) {
    let budget = MemoryBudget(countLimit: 10, costLimit: 10)
    var store = MemoryStore<Int, Int>(
      budget,
      MemoryOptions(
        policy: .leastRecentlyUsed, isWeighted: true, timeToLive: .forever, timeToIdle: .forever,
        jitter: 0), expectedCount: 8)
    func details(_ cost: Int, _ revision: Revision) -> MemoryDetails {
      MemoryDetails(cost: cost, bornAt: 0, deadline: .max, revision: revision)
    }
    let hash = MemoryHash(1)
    var others = MemorySpace()
    #expect(budget.reserve(6, from: &others))
    let older = Revision.next()
    let pending = PendingWrite(older)
    defer { pending.end() }
    var move = MemoryMove<Int, Int>(0)
    #expect(store.set(1, hash, 2, nil, details(4, .next()), &move) == .kept)
    let token = FillToken()
    let later = Revision.next()
    func put() -> Placing {
      isFill
        ? store.fill(1, hash, 3, nil, details(5, .none), token, &move)
        : store.set(1, hash, 3, nil, details(5, later), &move)
    }

    #expect(put() == .crowded)
    budget.takeBack(&move.room)
    // Before it finds room, too.
    #expect(store.set(1, hash, 1, nil, details(4, older), &move) == .refused)
    budget.release(MemorySpace(count: 1, cost: 6))
    #expect(put() == .kept)

    #expect(store.set(1, hash, 1, nil, details(4, older), &move) == .refused)
  }
}
