import Testing

@testable import MillpondBench

@Suite struct MemoryWorkTests {
  private let keys = (0..<120).map { "\($0)" }

  @Test(arguments: [1, 2])
  func `the sums of all contenders are right`(threads: Int) throws {
    #expect(try isRight(.hits(MillpondMemory.self, Array(keys[..<40]), threads: threads)))
    #expect(try isRight(.hits(DictionaryContender.self, Array(keys[..<40]), threads: threads)))
    #expect(try isRight(.hits(NSCacheContender.self, Array(keys[..<40]), threads: threads)))
  }

  @Test(arguments: [1, 2])
  func `a contender that forgets one key is detected by hits`(threads: Int) throws {
    #expect(try !isRight(.hits(Forgetful.self, Array(keys[..<40]), threads: threads)))
  }

  @Test func `a contender that keeps too many, or too few, is detected by inserts`() throws {
    #expect(try isRight(.inserts(MillpondMemory.self, keys, size: 40)))
    #expect(try !isRight(.inserts(DictionaryContender.self, keys, size: 40)))
    #expect(try !isRight(.inserts(Forgetful.self, keys, size: 40)))
  }

  private func isRight(_ work: Work) throws -> Bool {
    var sample = Sample(name: "", summary: "", unit: "")
    try sample.measure([work], 40 * 2, repetitions: 1)
    return sample.isSumRight
  }
}

/// A contender that lacks the key 7.
private struct Forgetful: MemoryContender {
  static let name = "forgetful"

  private let kept: DictionaryContender

  init(limit: Int) {
    kept = DictionaryContender(limit: limit)
  }

  func number(for key: String) -> Int? {
    kept.number(for: key)
  }

  func keep(_ value: Int, for key: String) {
    if key != "7" { kept.keep(value, for: key) }
  }
}
