import MillpondCore
import Testing

@testable import MillpondInspector

@Suite struct RecentGetsTests {
  @Test func `it keeps the newest, and says how many there were`() {
    var ring = RecentGets(limit: 3)
    let former = (0..<5).map { ring.append(GetRecord(key: $0, steps: [], end: .value), at: .now) }

    #expect(ring.count == 5)
    #expect(former.map { $0?.record.key as? Int } == [nil, nil, nil, 0, 1])
    #expect(ring.latest(from: 0, limit: 9).map { $0.record.key as? Int } == [2, 3, 4])
  }

  @Test(arguments: [
    (0, 9, [2, 3, 4]), (3, 9, [3, 4]), (5, 9, []), (7, 9, []), (0, 2, [3, 4]), (0, 0, []),
    (-1, 1, [4]),
  ])
  func `it gives the newest from a number on`(from: Int, limit: Int, numbers: [Int]) {
    var ring = RecentGets(limit: 3)
    for key in 0..<5 { _ = ring.append(GetRecord(key: key, steps: [], end: .miss), at: .now) }

    #expect(ring.latest(from: from, limit: limit).map(\.number) == numbers)
  }

  @Test func `an empty one gives nothing`() {
    #expect(RecentGets(limit: 0).latest(from: 0, limit: 5).isEmpty)
  }
}
