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
    let fullCapacity = members.slots.capacity

    for (number, lifetime) in lifetimes.enumerated().dropFirst(2) {
      lifetime.end()
      _ = members.remove(number)
    }
    members.next(1)

    #expect(fullCapacity >= 10_000)
    #expect(members.slots.count < 16)
    #expect(members.slots.capacity <= 64)
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

  @Test func `a list of one member, of several, of none and of one again sends to those in it`() {
    var members = SubscriberList<Int>()
    let received = Journal<Int>()
    func add(_ number: Int) { members.add(member(number, Lifetime(), received)) }

    add(1)
    members.next(0)
    let wasPresent = members.remove(1) != nil
    let isPresent = members.remove(1) != nil
    members.next(0)
    add(3)
    add(2)
    members.next(0)
    _ = (members.remove(2), members.remove(3))
    members.next(0)
    add(4)
    members.next(0)

    #expect(received.entries == [1, 2, 3, 4])
    #expect(wasPresent && !isPresent)
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
