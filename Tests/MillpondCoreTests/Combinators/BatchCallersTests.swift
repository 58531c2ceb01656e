import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

@Suite struct BatchCallersTests {
  private func caller() -> BatchCaller<Int> {
    BatchCaller(Observer(next: { _ in }, other: { _ in }), Lifetime())
  }

  @Test(arguments: 0..<10)
  func `every leaver knows the slot, and those that stay keep their order`(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    var callers = BatchCallers<Int>()
    var staying: [BatchCaller<Int>] = []
    for _ in 0..<500 {
      if let place = staying.indices.randomElement(using: &random), Bool.random(using: &random) {
        let gone = staying.remove(at: place)
        #expect(callers.slots[gone.slot] === gone)
        let (first, second) = (callers.remove(gone), callers.remove(gone))
        #expect(first && !second)
      } else {
        staying.append(caller())
        callers.add(staying[staying.count - 1])
      }
      let isInOrder = callers.all.elementsEqual(staying) { $0 === $1 }
      #expect(isInOrder)
      #expect(callers.isEmpty == staying.isEmpty)
      #expect(callers.slots.count <= 2 * staying.count + 10)
    }
  }
}
