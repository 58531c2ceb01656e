import MillpondSignals
import MillpondTesting
import Testing

@Suite struct SignalPartsTests {
  private func one(_ value: Int, _ witness: Witness? = nil) -> SignalParts<Int> {
    SignalParts(.one(Signal { [witness] _, _ in _ = (value, witness) }))
  }

  @Test(arguments: [true, false])
  func `a deep tree is released without overflow, and its shared part stays`(growsLeft: Bool) {
    let released = Locked(0)
    var tree: SignalParts<Int>?
    var shared: SignalParts<Int>?
    for index in 0..<100_000 {
      let leaf = one(index, Witness { released.withLock { $0 += 1 } })
      tree = tree.map { SignalParts(.concatenated, growsLeft ? [$0, leaf] : [leaf, $0]) } ?? leaf
      if index == 9 { shared = tree }
    }

    tree = nil
    let withoutShared = released.withLock { $0 }
    shared = nil

    #expect(withoutShared == 99_990)
    #expect(released.withLock { $0 } == 100_000)
    _ = shared
  }

  @Test func `a walk makes what is deferred when it comes to it`() {
    let made = Locked(0)
    let late = SignalParts<Int>(
      .deferred {
        made.withLock { $0 += 1 }
        return .just(2)
      })
    var walk = ConcatAndMergeParts(SignalParts(.concatenated, [one(1), late, one(3)]))

    let first = walk.next()
    let madeBefore = made.withLock { $0 }
    let others = [walk.next(), walk.next()]

    #expect(first != nil)
    #expect(madeBefore == 0)
    #expect(made.withLock { $0 } == 1)
    #expect(others.allSatisfy { $0 != nil })
    #expect(walk.isAtEnd)
  }
}
