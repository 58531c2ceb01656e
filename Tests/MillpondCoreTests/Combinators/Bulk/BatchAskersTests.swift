import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

@Suite struct BatchAskersTests {
  private func asker() -> BatchAsker<Int> {
    BatchAsker(Observer(next: { _ in }, other: { _ in }), Lifetime())
  }

  @Test(arguments: 0..<10)
  func `whoever leaves knows the seat, and those who stay keep their order`(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    var askers = BatchAskers<Int>()
    var staying: [BatchAsker<Int>] = []
    for _ in 0..<500 {
      if let place = staying.indices.randomElement(using: &random), Bool.random(using: &random) {
        let gone = staying.remove(at: place)
        #expect(askers.seats[gone.seat] === gone)
        let (first, second) = (askers.remove(gone), askers.remove(gone))
        #expect(first && !second)
      } else {
        staying.append(asker())
        askers.add(staying[staying.count - 1])
      }
      let isInOrder = askers.all.elementsEqual(staying) { $0 === $1 }
      #expect(isInOrder)
      #expect(askers.isEmpty == staying.isEmpty)
      #expect(askers.seats.count <= 2 * staying.count + 10)
    }
  }
}
