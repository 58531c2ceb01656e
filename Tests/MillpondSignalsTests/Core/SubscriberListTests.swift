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

  private func capacity(_ members: borrowing SubscriberList<Int>) -> Int {
    members.several?.capacity ?? 0
  }

  @Test(arguments: [true, false])
  func `the room of members that have left is given back`(inOrder: Bool) {
    var members = SubscriberList<Int>()
    let received = Journal<Int>()
    for number in 0..<10_000 { members.add(member(number, Lifetime(), received)) }
    let full = capacity(members)

    for number in inOrder ? Array(0..<10_000) : (0..<10_000).reversed()
    where !number.isMultiple(of: 5_000) { _ = members.remove(number) }
    let rest = capacity(members)
    members.next(1)
    for number in [0, 5_000] { _ = members.remove(number) }

    #expect(10_000...20_000 ~= full)
    #expect(rest <= 8)
    #expect(received.entries == [0, 5_000])
    #expect(members.several == nil)
  }

  @Test(arguments: 0..<5)
  func `whoever comes and leaves, those who are there receive in order, in little memory`(
    seed: Int
  ) {
    var random = SeededGenerator(seed: UInt64(seed))
    var members = SubscriberList<Int>()
    let received = Journal<Int>()
    // A number is given once. Some arrive late.
    var (present, late, last) = ([Int](), [Int](), 0)
    for step in 0..<6_000 {
      let chance = Int.random(in: 0..<10, using: &random)
      if present.isEmpty || chance < (step < 3_000 ? 7 : 2) {
        if chance == 0 {
          last += 1
          late.append(last)
        }
        last += 1
        let number = chance == 1 ? late.popLast() ?? last : last
        members.add(member(number, Lifetime(), received))
        present.append(number)
      } else {
        let number = present.remove(at: Int.random(in: 0..<present.count, using: &random))
        let (first, second) = (members.remove(number), members.remove(number))
        #expect(first != nil && second == nil)
      }
      #expect(capacity(members) <= max(8, present.count * 4))
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
