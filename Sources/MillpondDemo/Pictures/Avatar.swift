/// The picture of an author: mirrored blocks in an individual colour, the same in every run.
///
/// It has 96 to 132 pixels a side, which makes files of 37 to 70 KB, so that they take a while on a
/// slow line, as the demo needs it.
struct Avatar {
  private static let blocksAcross = 6

  private let blockSide: Int
  private let colour: [UInt8]

  /// The left half of the blocks; the right half mirrors it.
  private let blocks: [[Bool]]

  init(name: String) {
    var random = SeededRandom(seed: name)
    blockSide = 16 + 2 * random.number(below: 4)
    colour = (0..<3).map { _ in UInt8(40 + random.number(below: 160)) } + [0]
    blocks = (0..<Self.blocksAcross).map { _ in
      (0..<Self.blocksAcross / 2).map { _ in random.number(below: 2) == 0 }
    }
  }

  /// Returns the picture as a BMP file of four bytes a pixel, which needs no compression.
  func bmp() -> [UInt8] {
    let side = Self.blocksAcross * blockSide
    let byteCount = 4 * side * side
    let header: [UInt8] = Array("BM".utf8) + littleEndian(54 + byteCount, 0, 54)
    let description: [UInt8] =
      littleEndian(40, side, side) + [1, 0, 32, 0] + littleEndian(0, byteCount, 2_835, 2_835, 0, 0)
    let lines = (0..<side).flatMap { y in
      (0..<side).flatMap { x in isFilled(x / blockSide, y / blockSide) ? colour : Self.background }
    }
    return header + description + lines
  }

  private static let background: [UInt8] = [240, 240, 240, 0]

  private func isFilled(_ column: Int, _ line: Int) -> Bool {
    blocks[line][min(column, Self.blocksAcross - 1 - column)]
  }

  private func littleEndian(_ numbers: Int...) -> [UInt8] {
    numbers.flatMap { number in [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: number >> $0) } }
  }
}
