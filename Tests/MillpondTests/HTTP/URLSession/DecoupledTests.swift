import Dispatch
import Foundation
import MillpondSignals
import MillpondTesting
import Testing

@testable import Millpond

/// A subscriber that takes the first part only once the sender goes on, or after a long wait.
@Suite struct DecoupledTests {
  private let source = TestSource<HTTPPart>()
  private let goesOn = DispatchSemaphore(value: 0)
  private let delivered = Locked(0)

  private func subscribe(waitingLimit: Int, timeLimit: DispatchTimeInterval) -> Disposable {
    let (goesOn, delivered) = (goesOn, delivered)
    return source.signal.decoupled(waitingLimit: waitingLimit).subscribe(onNext: { _ in
      let isFirst = delivered.withLock { $0 == 0 }
      if isFirst { _ = goesOn.wait(timeout: .now() + timeLimit) }
      delivered.withLock { $0 += 1 }
    })
  }

  @Test func `a slow subscriber does not hold up a sender of less than the limit`() {
    let subscription = subscribe(waitingLimit: 100, timeLimit: .seconds(10))

    source.next(.body(Data(count: 50)))
    source.next(.body(Data(count: 50)))

    #expect(delivered.withLock { $0 } == 0)
    goesOn.signal()
    subscription.dispose()
  }

  @Test func `a slow subscriber to pieces does not hold up those that share its transfer`() throws {
    let cache = HTTPCache(
      over: TestTransport(source: source), in: MemoryCache<String, HTTPCacheRecord>(countLimit: 9))
    var request = try HTTPCacheScene.request()
    let other = Recorder<HTTPPart>()
    request.isStreamed = true
    let (goesOn, delivered) = (goesOn, delivered)
    let slow = cache.send(request).subscribe(onNext: { _ in
      _ = goesOn.wait(timeout: .now() + .seconds(10))
      delivered.withLock { $0 += 1 }
    })
    other.subscribe(to: cache.send(try HTTPCacheScene.request()))

    source.next(.head(HTTPHead(status: 200)))
    source.next(.body(Data("body".utf8)))
    source.completed()

    #expect(HTTPCacheScene.text(other) == "200 body")
    #expect(source.subscriptions == 1)
    #expect(delivered.withLock { $0 } == 0)
    goesOn.signal()
    slow.dispose()
  }

  @Test func `a sender waits while more than the limit is to be delivered`() {
    let subscription = subscribe(waitingLimit: 100, timeLimit: .milliseconds(50))

    source.next(.body(Data(count: 50)))
    source.next(.body(Data(count: 51)))

    #expect(delivered.withLock { $0 } == 2)
    subscription.dispose()
  }
}
