import MillpondSignals
import Testing

@Suite struct QueueTests {
  @Test func `an empty queue gives nothing`() {
    var queue = Queue<Int>()

    #expect(queue.isEmpty)
    #expect(queue.popFirst() == nil)
  }

  @Test(arguments: [1, 63, 64, 65, 1_000])
  func `elements are taken in the order in which they were added`(count: Int) {
    var queue = Queue<Int>()
    for value in 0..<count { queue.append(value) }

    let popped = (0..<count).compactMap { _ in queue.popFirst() }

    #expect(popped == Array(0..<count))
    #expect(queue.isEmpty)
  }

  @Test(arguments: [(-1, []), (0, []), (2, [3, 4]), (4, [3, 4, 5, 6]), (.max, [3, 4, 5, 6])])
  func `a prefix is of the elements that are left`(count: Int, prefix: [Int]) {
    var queue = Queue<Int>()
    for value in 1...6 { queue.append(value) }
    for _ in 0..<2 { _ = queue.popFirst() }

    #expect(queue.prefix(count) == prefix)
  }

  @Test func `a queue that is filled and emptied by turns keeps its order`() {
    var queue = Queue<Int>()
    var popped: [Int] = []
    for value in 0..<1_000 {
      queue.append(value)
      if !value.isMultiple(of: 3), let first = queue.popFirst() { popped.append(first) }
    }
    while let first = queue.popFirst() { popped.append(first) }

    #expect(popped == Array(0..<1_000))
  }

  @Test func `a popped element is released`() {
    let released = Journal<Int>()
    var queue = Queue<Witness>()
    for value in 0..<3 { queue.append(Witness { released.write(value) }) }

    _ = queue.popFirst()

    #expect(released.entries == [0])
    #expect(!queue.isEmpty)
  }
}
