import Dispatch
import Foundation
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

@testable import Millpond

/// An HTTP cache used under a lock of the user's, which the receivers of answers take.
@Suite(.heavy) struct HTTPCacheUnderLockTests {
  private let transport = TestTransport()
  private let store = MemoryCache<String, HTTPCacheRecord>(countLimit: 100)

  private func head(_ fields: String) -> HTTPPart {
    .head(HTTPHead(status: 200, headers: CachingRow.fields(fields)))
  }

  /// Calls `act` under the lock while another thread delivers an answer, and waits for the lock.
  private func whileAnAnswerWaits(
    _ cache: HTTPCache, _ act: @escaping @Sendable () throws -> Void
  ) async throws {
    let lock = DispatchSemaphore(value: 1)
    let isDelivering = DispatchSemaphore(value: 0)
    let request = try HTTPCacheScene.request(path: "/running")
    let received = Watched(0)
    let first = cache.send(request).subscribe(onNext: { _ in
      if received.state == 0 { isDelivering.signal() }
      lock.wait()
      received.change { $0 += 1 }
      lock.signal()
    })
    let done = Watched(0)
    lock.wait()
    DispatchQueue(label: "answering").async { [transport] in
      transport.source.next(self.head("max-age=60"))
      transport.source.next(.body(Data("body".utf8)))
      transport.source.completed()
      done.change { $0 += 1 }
    }
    DispatchQueue(label: "holding").async {
      isDelivering.wait()
      do { try act() } catch { Issue.record(error) }
      lock.signal()
      done.change { $0 += 1 }
    }
    try await done.wait(for: "both threads") { $0 == 2 }
    try await received.wait(for: "the answer") { $0 == 2 }
    first.dispose()
  }

  private func cache() -> HTTPCache { HTTPCache(over: transport, in: store) }

  private func fill(_ cache: HTTPCache) throws {
    let first = Recorder<HTTPPart>().subscribe(
      to: cache.send(try HTTPCacheScene.request(path: "/stored")))
    transport.source.next(head("max-age=60"))
    transport.source.next(.body(Data("stored".utf8)))
    transport.source.completed()
    #expect(first.isCompleted)
  }

  @Test func `a hit under a lock waits for no answer that is being delivered`() async throws {
    let cache = cache()
    try fill(cache)
    let hit = Recorder<HTTPPart>()

    try await whileAnAnswerWaits(cache) {
      hit.subscribe(to: cache.send(try HTTPCacheScene.request(path: "/stored")))
    }

    #expect(HTTPCacheScene.text(hit).hasSuffix("stored"))
  }

  @Test func `a caller that joins and leaves under a lock waits for no other`() async throws {
    let cache = cache()
    try await whileAnAnswerWaits(cache) {
      cache.send(try HTTPCacheScene.request(path: "/running")).subscribe().dispose()
    }
    #expect(transport.source.subscriptions == 1)
  }

  @Test func `a removal under a lock waits for no answer, and wins over it`() async throws {
    let cache = cache()
    try await whileAnAnswerWaits(cache) { [store] in _ = store.removeAll() }
    #expect(store.count == 0)
  }

  @Test func `a decision is asked for under a lock`() async throws {
    let cache = cache()
    try fill(cache)
    let decision = Recorder<HTTPCacheDecision>()
    try await whileAnAnswerWaits(cache) {
      decision.subscribe(
        to: cache.decision(for: try HTTPCacheScene.request(path: "/stored")))
    }
    #expect(decision.values.first?.isAnswer == true)
  }
}
