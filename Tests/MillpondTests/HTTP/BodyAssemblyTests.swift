import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

@Suite struct BodyAssemblyTests {
  @Test func `a transfer that can't bring a whole answer has stopped when its failure is reported`()
  {
    let source = TestSource<HTTPPart>()
    let disposals = Locked<[Int]>([])
    let lifetime = Lifetime()
    source.signal.assembled(HTTPLimits(byteLimit: 1)).run(
      Observer(next: { _ in }) { event in
        if event.isTerminal { disposals.withLock { $0.append(source.disposals) } }
      }, lifetime)

    source.next(.head(HTTPHead(status: 200)))
    source.next(.body(Data(count: 2)))

    #expect(disposals.withLock { $0 } == [1])
    lifetime.end()
  }

  @Test func `a transfer has ended when its answer is delivered`() {
    let (isOver, wasOver) = (Locked(false), Locked<[Bool]>([]))
    let transfer = Signal<HTTPPart> { observer, lifetime in
      lifetime.onEnd { isOver.withLock { $0 = true } }
      observer.next(.head(HTTPHead(status: 200)))
      observer.completed()
    }

    transfer.assembled(HTTPLimits()).subscribe(onNext: { _ in
      wasOver.withLock { $0.append(isOver.withLock { $0 }) }
    })

    #expect(wasOver.withLock { $0 } == [true])
  }
}
