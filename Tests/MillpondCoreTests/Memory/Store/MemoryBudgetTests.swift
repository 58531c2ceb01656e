import Dispatch
import MillpondTesting
import Synchronization
import TestTraits
import Testing

@testable import MillpondCore

@Suite(.heavy) struct MemoryBudgetTests {
  let budget = MemoryBudget(countLimit: 3, costLimit: 10)

  private func reserve(_ cost: Int, from room: MemorySpace = MemorySpace()) -> (Bool, MemorySpace) {
    var room = room
    return (budget.reserve(cost, from: &room), room)
  }

  @Test func `there is room for as many, and for what they may cost`() {
    #expect(reserve(4).0 && reserve(6).0)
    #expect(!reserve(1).0)
    #expect(reserve(0).0)
    #expect(!reserve(0).0)
    #expect(budget.count == 3 && budget.cost == 10)
  }

  @Test func `a refused reservation takes nothing`() {
    #expect(reserve(8).0)

    #expect(!reserve(3).0)

    #expect(budget.count == 1 && budget.cost == 8)
  }

  @Test func `a caller's own room is used first, and only the rest is taken`() {
    #expect(reserve(8).0)

    let (isDone, left) = reserve(5, from: MemorySpace(count: 1, cost: 8))
    #expect(isDone && left.count == 0 && left.cost == 3)
    #expect(budget.count == 1 && budget.cost == 8)

    let (isLarger, rest) = reserve(7, from: MemorySpace(count: 2, cost: 5))
    #expect(isLarger && rest.count == 1 && rest.cost == 0)
    #expect(budget.count == 1 && budget.cost == 10)
  }

  @Test func `room of its own that does not suffice is kept by the caller`() {
    #expect(reserve(10).0)

    let (isDone, left) = reserve(9, from: MemorySpace(count: 0, cost: 8))

    #expect(!isDone && left.count == 0 && left.cost == 8)
    #expect(budget.count == 1 && budget.cost == 10)
  }

  @Test func `given back, it can be had again`() {
    #expect(reserve(10).0)
    budget.release(MemorySpace(count: 1, cost: 4))
    #expect(budget.count == 0 && budget.cost == 6)

    #expect(!budget.reserve(moreCost: 5))
    #expect(budget.reserve(moreCost: 4))
    #expect(budget.cost == 10)
  }

  @Test func `the largest costs do not overflow`() {
    let budget = MemoryBudget(countLimit: .max, costLimit: .max)
    var room = MemorySpace()

    #expect(budget.reserve(moreCost: .max))
    #expect(!budget.reserve(moreCost: .max) && !budget.reserve(moreCost: 1))
    let isReserved = budget.reserve(.max, from: &room)
    #expect(!isReserved && budget.cost == .max && budget.count == 0)
  }

  @Test func `limits are what can be, and none is less than zero`() {
    let budget = MemoryBudget(countLimit: .max, costLimit: -5)
    #expect(budget.countLimit == 2_147_483_646 && budget.costLimit == 0)

    budget.countLimit = -1
    budget.costLimit = .min
    #expect(budget.countLimit == 0 && budget.costLimit == 0 && budget.isKept)
  }

  @Test func `lowered, a limit is not kept until enough is given back`() {
    #expect(reserve(5).0 && reserve(5).0)
    budget.countLimit = 1
    #expect(!budget.isKept && !reserve(0).0)

    budget.release(MemorySpace(count: 1, cost: 5))

    #expect(budget.isKept && !reserve(0).0)
  }

  @Test func `several threads never have more than there is, and give all of it back`() {
    let budget = MemoryBudget(countLimit: 5, costLimit: 40)
    let held = Atomic<Int>(0)
    let excess = Atomic<Int>(0)

    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for step in 0..<10_000 {
        var room = MemorySpace()
        let cost = (step + thread) % 17
        guard budget.reserve(cost, from: &room) else { continue }
        if held.add(cost, ordering: .relaxed).newValue > 40 { excess.add(1, ordering: .relaxed) }
        if budget.count > 5 || budget.cost > 40 { excess.add(1, ordering: .relaxed) }
        held.subtract(cost, ordering: .relaxed)
        budget.release(MemorySpace(count: 1, cost: cost))
      }
    }

    #expect(excess.load(ordering: .relaxed) == 0)
    #expect(budget.count == 0 && budget.cost == 0)
  }
}
