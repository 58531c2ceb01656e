/// Five by five blocks that are filled for a name, where the right half mirrors the left one.
struct Identicon {
  /// The content of a block.
  enum Block {
    case empty, main, accent
  }

  static let blocksAcross = 5

  private let blocks: [[Block]]

  init(name: String) {
    var random = SeededRandom(seed: "blocks of " + name)
    blocks = (0..<Self.blocksAcross).map { _ in
      let left = (0..<2).map { _ in Self.block(&random) }
      return left + [Self.block(&random)] + left.reversed()
    }
  }

  /// Returns the block at a place; blocks beyond the edge are empty.
  func block(column: Int, line: Int) -> Block {
    let all = 0..<Self.blocksAcross
    return all.contains(column) && all.contains(line) ? blocks[line][column] : .empty
  }

  private static func block(_ random: inout SeededRandom) -> Block {
    switch random.number(below: 12) {
    case 0..<5: .empty
    case 5..<10: .main
    default: .accent
    }
  }
}
