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
}
