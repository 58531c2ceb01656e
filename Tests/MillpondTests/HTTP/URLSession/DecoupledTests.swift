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

  @Test func `a subscriber may send a large part itself, and leave, without waiting for itself`()
    async throws
  {
    let (source, bag, sizes) = (source, DisposableBag(), Watched<[Int]>([]))
    source.signal.decoupled(waitingLimit: 100).subscribe(onNext: { part in
      guard case .body(let bytes) = part else { return }
      if bytes.count == 1 { source.next(.body(Data(count: 500))) } else { bag.dispose() }
      sizes.change { $0.append(bytes.count) }
    }).disposed(by: bag)

    source.next(.body(Data(count: 1)))

    try await sizes.wait(for: "both parts") { $0 == [1, 500] }
    try await source.disposals(count: 1)
  }

  @Test(arguments: [true, false])
  func `a body in pieces of any size is written to a file, which a caller may give up in between`(
    givesUp: Bool
  ) async throws {
    let pieces = [1, 3 << 20, 0, 5 << 20].map { Data(repeating: 7, count: $0) }
    let file = Recorder<SpooledFile>()
    file.subscribe(to: SpooledFile.of(.stream(.from(pieces)))) { event in
      if givesUp, case .progress = event { file.dispose() }
    }

    if givesUp { return }
    try await file.ended()
    let url = try #require(file.values.first?.url)
    #expect(try Data(contentsOf: url) == pieces.reduce(Data(), +))
  }
}
