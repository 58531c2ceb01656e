import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

@Suite struct GatheredTests {
  @Test func `a transfer that can't bring a whole answer has stopped when its failure is told`() {
    let source = TestSource<HTTPPart>()
    let disposals = Locked<[Int]>([])
    let lifetime = Lifetime()
    source.signal.gathered(HTTPLimits(byteLimit: 1)).run(
      Observer(next: { _ in }) { event in
        if event.isTerminal { disposals.withLock { $0.append(source.disposals) } }
      }, lifetime)

    source.next(.head(HTTPHead(status: 200)))
    source.next(.body(Data(count: 2)))

    #expect(disposals.withLock { $0 } == [1])
    lifetime.end()
  }
}
