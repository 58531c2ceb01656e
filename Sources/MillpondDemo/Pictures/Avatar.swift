/// The picture of an author: mirrored blocks in individual colours, the same in every run.
///
/// It has 96 to 132 pixels a side, which makes files of 37 to 70 KB.
struct Avatar {
  /// The width and height in pixels.
  var side: Int { (Identicon.blocksAcross + 1) * blockSide }

  private let identicon: Identicon
  private let blockSide: Int
  private let main: Colour
  private let accent: Colour
  private let background: Colour

  init(name: String) {
    var random = SeededRandom(seed: "colours of " + name)
    identicon = Identicon(name: name)
    blockSide = 16 + 2 * random.number(below: 4)
    let hue = random.fraction()
    let saturation = 0.5 + 0.25 * random.fraction()
    let accentHue = hue + 0.08 + 0.12 * random.fraction()
    main = Colour(hue: hue, saturation: saturation, lightness: 0.46)
    accent = Colour(hue: accentHue, saturation: saturation, lightness: 0.62)
    background = Colour(hue: hue, saturation: 0.35, lightness: 0.93)
  }

  /// Returns the picture as a PNG file.
  func png() -> [UInt8] {
    var pixels = Pixels(width: side, height: side)
    for y in 0..<side {
      for x in 0..<side {
        pixels.paint(x: x, y: y, colour(x: x, y: y), opacity: opacity(x: x, y: y))
      }
    }
    return PNG.encoded(pixels)
  }

  /// Returns a block's colour on the background; both are a little lighter at the top left.
  private func colour(x: Int, y: Int) -> Colour {
    let depth = Double(x + y) / Double(2 * side)
    let shadedBackground = background.mixed(with: main, 0.16 * depth)
    // Half a block stays free on all sides.
    let (column, left) = (x + blockSide / 2).quotientAndRemainder(dividingBy: blockSide)
    let (line, top) = (y + blockSide / 2).quotientAndRemainder(dividingBy: blockSide)
    let block = identicon.block(column: column - 1, line: line - 1)
    guard block != .empty else { return shadedBackground }
    let bevel = Double(left + top) / Double(2 * blockSide)
    let shaded = (block == .main ? main : accent)
      .mixed(with: .white, 0.20 * (1 - depth))
      .mixed(with: .black, 0.22 * depth + 0.05 * bevel)
    let isFree = { (column: Int, line: Int) in
      identicon.block(column: column - 1, line: line - 1) == .empty
    }
    let right = left >= blockSide / 2
    let bottom = top >= blockSide / 2
    // A corner without neighbours is round.
    let isCorner =
      isFree(right ? column + 1 : column - 1, line)
      && isFree(column, bottom ? line + 1 : line - 1)
    let radius = isCorner ? Double(blockSide) * 0.3 : 0
    return shadedBackground.mixed(
      with: shaded, Self.coverage(x: left, y: top, side: blockSide, radius: radius))
  }

  private func opacity(x: Int, y: Int) -> Double {
    Self.coverage(x: x, y: y, side: side, radius: Double(side) * 0.14)
  }

  /// Returns the share of a pixel inside a square with round corners, from 0 to 1.
  private static func coverage(x: Int, y: Int, side: Int, radius: Double) -> Double {
    let half = Double(side) / 2
    let across = abs(Double(x) + 0.5 - half) - (half - radius)
    let down = abs(Double(y) + 0.5 - half) - (half - radius)
    guard across > 0, down > 0 else { return 1 }
    let distance = (across * across + down * down).squareRoot()
    return min(max(radius - distance + 0.5, 0), 1)
  }
}
