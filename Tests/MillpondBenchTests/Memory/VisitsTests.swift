import Foundation
import Testing

@testable import MillpondBench

@Suite struct VisitsTests {
  @Test func `in disorder each number comes once a thread, and each thread begins elsewhere`() {
    let visits = Visits.disorderly(10..<60, threads: 2).ofThreads

    #expect(visits.allSatisfy { $0.sorted() == Array(10..<60) })
    #expect(visits.allSatisfy { $0 != Array(10..<60) })
    #expect(visits[0].first != visits[1].first)
  }

  @Test func `shared numbers come once, to one thread`() {
    let visits = Visits.shared(10..<17, threads: 2).ofThreads

    #expect(visits == [[10, 11, 12], [13, 14, 15]])
  }

  @Test func `visits are the same each time, and not the same for two threads`() {
    let one = Visits.mixed(size: 9, count: 60, threads: 2)
    let other = Visits.mixed(size: 9, count: 60, threads: 2)

    #expect(one.ofThreads == other.ofThreads)
    #expect(one.ofThreads[0] != one.ofThreads[1])
  }

  @Test func `some that are no multiple of the writes are left out`() {
    #expect(Visits.mixed(size: 10, count: 59, threads: 1).ofThreads[0].count == 40)
  }

  @Test(arguments: [2, 3, 10, 50])
  func `a rank comes up as much less often as its 0.99th power says`(rank: Int) {
    let ratio = Self.counts[0] / Self.counts[rank - 1]

    #expect(abs(ratio / pow(Double(rank), 0.99) - 1) < 0.1)
  }

  /// The number of visits to each number, in descending order.
  private static let counts = Dictionary(
    Visits.mixed(size: 1_000, count: 100_000, threads: 1).ofThreads[0].map { ($0, 1.0) },
    uniquingKeysWith: +
  ).values.sorted(by: >)
}
