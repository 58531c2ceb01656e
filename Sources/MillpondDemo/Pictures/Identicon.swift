/// Which of five by five blocks are filled for a name, the right half mirroring the left one.
struct Identicon {
  /// What one block of the picture shows.
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

  /// The block at a place; beyond the edge all are empty.
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
