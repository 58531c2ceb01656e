import MillpondSignals
import MillpondTesting
import Testing

@Suite struct SubscriberListTests {
  private func member(_ number: Int, _ lifetime: Lifetime, _ received: Journal<Int>)
    -> ListedSubscriber<Int>
  {
    ListedSubscriber(
      number, Observer(next: { _ in received.write(number) }, other: { _ in }), lifetime)
  }

  @Test func `the room of members that have left is given back`() {
    var members = SubscriberList<Int>()
    let received = Journal<Int>()
    let lifetimes = (0..<10_000).map { _ in Lifetime() }
    for (number, lifetime) in lifetimes.enumerated() {
      members.add(member(number, lifetime, received))
    }
    let fullCapacity = members.capacity

    for (number, lifetime) in lifetimes.enumerated().dropFirst(2) {
      lifetime.end()
      _ = members.remove(number)
    }
    members.next(1)

    #expect(fullCapacity >= 10_000)
    #expect(members.count < 16)
    #expect(members.capacity <= 64)
    #expect(received.entries == [0, 1])
  }

  @Test func `a member whose lifetime has ended stays until it is removed`() {
    // An observer is released by the thread that removes it, never in passing.
    var members = SubscriberList<Int>()
    let received = Journal<Int>()
    let lifetimes = (0..<5).map { _ in Lifetime() }
    let isReleased = Locked(false)
    for (number, lifetime) in lifetimes.enumerated() where number != 2 {
      members.add(member(number, lifetime, received))
    }
    do {
      let witness = Witness { isReleased.withLock { $0 = true } }
      members.add(
        ListedSubscriber(
          2, Observer(next: { [witness] _ in _ = witness }, other: { _ in }), lifetimes[2]))
    }

    for lifetime in lifetimes { lifetime.end() }
    for number in [0, 1, 3, 4] { _ = members.remove(number) }
    let wasReleased = isReleased.withLock { $0 }
    var observer = members.remove(2)
    let isKept = !isReleased.withLock { $0 }
    observer = nil

    #expect(!wasReleased)
    #expect(isKept)
    #expect(isReleased.withLock { $0 })
    _ = observer
  }

  @Test(arguments: [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]])
  func `members receive in the order of their numbers, however they arrive`(order: [Int]) {
    var members = SubscriberList<Int>()
    let received = Journal<Int>()

    for number in order { members.add(member(number, Lifetime(), received)) }
    members.next(1)

    #expect(received.entries == [0, 1, 2, 3])
  }
}
