import Testing

@testable import Millpond

@Suite struct FoldHashTests {
  private func hash(_ bytes: [UInt8], seed: UInt64 = 0) -> UInt64 {
    bytes.withUnsafeBytes { FoldHash.hash($0, seed: seed) }
  }

  @Test func `a value that an older build has written is found by this one`() {
    #expect(hash([]) == 11_098_908_319_805_769_592)
    #expect(hash(Array("a".utf8)) == 17_905_805_604_508_252_517)
    #expect(hash(Array(0..<200), seed: 7) == 664_756_112_188_936_968)
  }

  @Test(arguments: [0, 1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 127, 128, 200])
  func `a flip of any bit changes the hash`(count: Int) {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) }
    var hashes: Set = [hash(bytes)]

    for bit in 0..<count * 8 {
      var flipped = bytes
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      hashes.insert(hash(flipped))
    }

    #expect(hashes.count == count * 8 + 1)
  }

  @Test func `zeros of every length have another hash`() {
    let hashes = Set((0...300).map { hash([UInt8](repeating: 0, count: $0)) })

    #expect(hashes.count == 301)
  }

  @Test func `the seed changes the hash`() {
    let hashes = Set((0..<1_000).map { hash([1, 2, 3], seed: $0) })

    #expect(hashes.count == 1_000)
  }

  @Test func `each bit of the hash is set for about half of the inputs`() {
    var counts = [Int](repeating: 0, count: 64)

    for number in 0..<4_096 {
      let hash = hash(Array("key \(number)".utf8))
      for bit in 0..<64 where hash >> UInt64(bit) & 1 == 1 { counts[bit] += 1 }
    }

    #expect(counts.allSatisfy { (1_800...2_300).contains($0) })
  }
}
