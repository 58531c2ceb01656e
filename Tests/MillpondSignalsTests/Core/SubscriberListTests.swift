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

  private func blocks(_ members: borrowing SubscriberList<Int>) -> [(count: Int, capacity: Int)] {
    guard let list = members.blocks, let blocks = list.blocks else { return [] }
    return (0..<list.count).map { (blocks[$0].count, blocks[$0].capacity) }
  }

  @Test func `the room of members that have left is given back`() {
    var members = SubscriberList<Int>()
    let received = Journal<Int>()
    for number in 0..<10_000 { members.add(member(number, Lifetime(), received)) }
    let full = blocks(members)

    for number in 0..<10_000 where !number.isMultiple(of: 5_000) { _ = members.remove(number) }
    let rest = blocks(members)
    members.next(1)
    for number in [0, 5_000] { _ = members.remove(number) }

    #expect(full.count < 200 && full.map(\.count).reduce(0, +) == 10_000)
    #expect(rest.map(\.count) == [1, 1] && rest.allSatisfy { $0.capacity <= 4 })
    #expect(received.entries == [0, 5_000])
    #expect(members.blocks == nil)
  }

  /// A departure and an arrival move the members of one block.
  @Test(arguments: 0..<5)
  func `whoever comes and leaves, no block has more than 64 members, and all receive in order`(
    seed: Int
  ) {
    var random = SeededGenerator(seed: UInt64(seed))
    var members = SubscriberList<Int>()
    let received = Journal<Int>()
    var (present, absent) = (Set<Int>(), Set(0..<1_000))
    for step in 0..<6_000 {
      let comes = present.isEmpty || Int.random(in: 0..<10, using: &random) < (step < 3_000 ? 7 : 2)
      if comes, let number = absent.sorted().randomElement(using: &random) {
        members.add(member(number, Lifetime(), received))
        present.insert(number)
        absent.remove(number)
      } else if let number = present.sorted().randomElement(using: &random) {
        let (first, second) = (members.remove(number), members.remove(number))
        #expect(first != nil && second == nil)
        present.remove(number)
        absent.insert(number)
      }
      let counts = blocks(members).map(\.count)
      #expect(counts.allSatisfy { 1...68 ~= $0 })
      #expect([0, present.count].contains(counts.reduce(0, +)))
    }
    members.next(1)

    #expect(received.entries == present.sorted())
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
