import Testing

@testable import MillpondBench

@Suite struct FilledMemoryTests {
  private let keys = (0..<80).map { "\($0)" }

  @Test(arguments: [MemoryOperation.hit, .miss], [1, 2])
  func `the sums of all contenders are right`(operation: MemoryOperation, threads: Int) throws {
    let visits = Visits.disorderly(operation == .hit ? 0..<40 : 40..<80, threads: threads)

    #expect(try isRight(FilledMemory<MillpondMemory>(keys, 40, visits), operation, visits))
    #expect(try isRight(FilledMemory<DictionaryContender>(keys, 40, visits), operation, visits))
    #expect(try isRight(FilledMemory<NSCacheContender>(keys, 40, visits), operation, visits))
  }

  @Test(arguments: [1, 2])
  func `a contender that forgets one key is detected by hits`(threads: Int) throws {
    let visits = Visits.disorderly(0..<40, threads: threads)

    #expect(try !isRight(FilledMemory<Forgetful>(keys, 40, visits), .hit, visits))
  }

  @Test func `a contender that has what it was never given is detected by misses`() throws {
    let visits = Visits.disorderly(40..<80, threads: 1)

    #expect(try !isRight(FilledMemory<Forgetful>(keys, 40, visits), .miss, visits))
  }

  @Test func `a contender that keeps too many, or too few, is detected by inserts`() throws {
    let visits = Visits.shared(40..<80, threads: 2)

    #expect(try isRight(FilledMemory<MillpondMemory>(keys, 40, visits), .insert, visits))
    #expect(try !isRight(FilledMemory<DictionaryContender>(keys, 40, visits), .insert, visits))
    #expect(try !isRight(FilledMemory<Forgetful>(keys, 40, visits), .insert, visits))
  }

  private func isRight<Kept>(
    _ filled: FilledMemory<Kept>, _ operation: MemoryOperation, _ visits: Visits
  ) throws -> Bool {
    var sample = Sample(name: "", summary: "", unit: "")
    try sample.measure([(filled.work(operation), visits.count)], repetitions: 1)
    return sample.isSumRight
  }
}

/// A contender that lacks the key 7, and claims to have the key 77.
private struct Forgetful: MemoryContender {
  static let name = "forgetful"

  private let kept: DictionaryContender

  init(limit: Int) {
    kept = DictionaryContender(limit: limit)
  }

  func number(for key: String) -> Int? {
    key == "77" ? 77 : kept.number(for: key)
  }

  func keep(_ value: Int, for key: String) {
    if key != "7" { kept.keep(value, for: key) }
  }

  func count(among keys: [String]) -> Int {
    kept.count(among: keys) - 1
  }
}
