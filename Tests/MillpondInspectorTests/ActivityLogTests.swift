import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondInspector

@Suite struct ActivityLogTests {
  let log = ActivityLog()

  func record(_ count: Int) {
    for key in 0..<count {
      let hit = CacheEvent(.hit(age: nil), layer: "memory", key: key)
      log.receive(hit)
      log.receive(GetRecord(key: key, steps: [hit], end: .value))
    }
  }

  @Test func `each look gives what is new, and of much the newest`() {
    record(3)
    #expect(log.news(limit: 2).entries.map(\.number) == [1, 2])
    #expect(log.news(limit: 2).entries.isEmpty)
    record(5)
    let news = log.news(limit: 2)
    #expect(news.entries.map(\.number) == [6, 7])
    #expect(news.skipped == 3)
    #expect(news.count == 8)
    #expect(news.statistics["memory"]?.hits == 8)
  }

  @Test func `many gets take no more room than the latest thousand`() {
    record(3 * ActivityLog.limit)
    #expect(log.keys.count == ActivityLog.limit)
    #expect(log.keys.first as? Int == 3 * ActivityLog.limit - 1)
    let news = log.news(limit: 10 * ActivityLog.limit)
    #expect(news.entries.count == ActivityLog.limit)
    #expect(news.skipped == 2 * ActivityLog.limit)
  }

  @Test func `the number of counted layers is limited`() {
    for layer in 0..<1_000 {
      for _ in 0..<2 { log.receive(CacheEvent(.hit(age: nil), layer: "\(layer)", key: 1)) }
    }
    let statistics = log.news(limit: 1).statistics
    #expect(statistics.count == 200)
    #expect(statistics["7"]?.hits == 2)
  }
}
