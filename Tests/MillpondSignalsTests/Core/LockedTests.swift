import MillpondSignals
import Testing

@Suite struct LockedTests {
  @Test func `changes by many threads all count`() async throws {
    let count = Locked(0)

    try await race(4) { _ in
      for _ in 0..<10_000 { count.withLock { $0 += 1 } }
    }

    #expect(count.withLock { $0 } == 40_000)
  }

  @Test func `the state is released with the lock`() {
    let released = Journal<Int>()
    do {
      let locked = Locked(Witness { released.write(1) })
      #expect(locked.withLock { _ in released.count } == 0)
    }

    #expect(released.entries == [1])
  }

  @Test func `a discarded object is released after the unlock`() {
    let released = Journal<Int>()
    let locked = Locked<[Int: Witness]>([:])
    // The lock is not recursive.
    locked.withLock { $0[1] = Witness { released.write(locked.withLock { $0.count }) } }

    locked.discard { witnesses in
      defer { witnesses = [:] }
      return witnesses
    }

    #expect(released.entries == [0])
  }
}
