import Testing

@testable import Millpond

@Suite struct KeyHashTests {
  @Test func `a value that an older build has written is found by this one`() {
    #expect(KeyHash(of: "").value == 18_234_424_452_611_306_881)
    #expect(KeyHash(of: "a").value == 13_654_658_759_173_323_750)
  }

  @Test func `a key has one hash, however its bytes come`() {
    let key = String(repeating: "ä key that is not short ", count: 10)

    #expect(Array(key.utf8).withUnsafeBytes { KeyHash($0) } == KeyHash(of: key))
  }

  @Test func `keys that only look alike have different hashes`() {
    let keys = ["", "\u{0}", "a", "A", "a\u{0}", "\u{E9}", "e\u{301}", ".", "..", "/"]

    #expect(Set(keys.map { KeyHash(of: $0) }).count == keys.count)
  }

  @Test func `the bits for the table are spread`() {
    let bits = Set((0..<10_000).map { KeyHash(of: "\($0)").bits })

    #expect(bits.count > 9_990)
  }
}
