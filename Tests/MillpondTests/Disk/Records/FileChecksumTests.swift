import Foundation
import Testing

@testable import Millpond

@Suite struct FileChecksumTests {
  private func sum(_ bytes: [UInt8], pieceSize: Int = FileChecksum.pieceSize) -> UInt64 {
    var sum = FileChecksum()
    bytes.withUnsafeBytes { bytes in
      for start in stride(from: 0, to: bytes.count, by: pieceSize) {
        let end = min(start + pieceSize, bytes.count)
        sum.add(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
      }
    }
    return sum.sum
  }

  private func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 7) }
  }

  @Test(arguments: [0, 1, 63, 64, 65, 127, 1_000])
  func `any flipped bit changes the sum`(count: Int) {
    var bytes = bytes(count)
    let whole = sum(bytes)

    for bit in 0..<count * 8 {
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(sum(bytes) != whole)
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
    }
    #expect(sum(bytes) == whole)
  }

  @Test func `zeros at the end and the order of the parts change the sum`() {
    let bytes = bytes(4_096)

    let sums = [
      sum(bytes), sum(bytes + [0]), sum(bytes + Array(repeating: 0, count: 64)),
      sum(Array(bytes[64...] + bytes[..<64])), sum(Array(bytes[512...] + bytes[..<512])),
      sum(Array(bytes.reversed())), sum([]), sum([0]), sum(Array(repeating: 0, count: 4_096)),
    ]
    #expect(Set(sums).count == sums.count)
  }

  @Test func `it does not matter in how many pieces the value comes`() {
    let bytes = bytes(10_000)

    #expect(sum(bytes, pieceSize: 64) == sum(bytes))
    #expect(sum(bytes, pieceSize: 640) == sum(bytes))
  }

  @Test func `a file that an older build has written is whole for this one`() {
    #expect(sum(bytes(100_000)) == 9_908_816_761_548_508_772)
  }
}
