/// A rectangle of pixels, four bytes each: red, green, blue and opacity.
struct Pixels {
  let width: Int
  let height: Int
  private(set) var bytes: [UInt8]

  static let bytesPerPixel = 4

  /// Creates a transparent rectangle.
  ///
  /// Sizes below one count as one: a PNG has at least one pixel each way.
  init(width: Int, height: Int) {
    self.width = max(1, width)
    self.height = max(1, height)
    bytes = Array(repeating: 0, count: self.width * self.height * Self.bytesPerPixel)
  }

  /// Sets one pixel; ignores pixels outside of the rectangle.
  mutating func paint(x: Int, y: Int, _ colour: Colour, opacity: Double = 1) {
    guard (0..<width).contains(x), (0..<height).contains(y) else { return }
    let start = (y * width + x) * Self.bytesPerPixel
    let parts = [colour.red, colour.green, colour.blue, opacity]
    for (index, part) in parts.enumerated() {
      bytes[start + index] = UInt8((min(max(part, 0), 1) * 255).rounded())
    }
  }
}
