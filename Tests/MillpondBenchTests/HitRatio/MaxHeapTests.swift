import Testing

@testable import MillpondBench

@Suite struct MaxHeapTests {
  @Test(arguments: 0..<20 as Range<UInt64>)
  func `the greatest comes first, whatever was added and removed before`(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var heap = MaxHeap()
    var numbers: [Int] = []
    for _ in 0..<300 {
      if random.number(below: 3) > 0 {
        numbers.append(random.number(below: 50))
        heap.insert(numbers[numbers.count - 1])
      } else {
        numbers.sort()
        #expect(heap.removeMax() == numbers.popLast())
      }
    }
  }
}
