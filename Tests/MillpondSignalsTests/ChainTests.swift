import MillpondSignals
import MillpondTesting
import Testing

@Suite struct ChainTests {
  @Test func `elements come in the order in which they were appended`() {
    let chain = Chain(Chain(Chain(nil, 1), 2), 3)

    #expect(chain.elements == [1, 2, 3])
  }

  @Test func `what is appended to a shared list does not show in the other`() {
    let shared = Chain(nil, 1)

    let first = Chain(shared, 2)
    let second = Chain(shared, 3)

    #expect(first.elements == [1, 2])
    #expect(second.elements == [1, 3])
  }

  @Test func `S19 a long list is released without overflow, but for what is shared`() {
    let released = Locked(0)
    var chain: Chain<Witness>?
    var shared: Chain<Witness>?
    for index in 0..<100_000 {
      chain = Chain(chain, Witness { released.withLock { $0 += 1 } })
      if index == 9 { shared = chain }
    }

    chain = nil
    let withoutShared = released.withLock { $0 }
    let kept = shared?.elements.count
    shared = nil

    #expect(kept == 10)
    #expect(withoutShared == 99_990)
    #expect(released.withLock { $0 } == 100_000)
  }
}
