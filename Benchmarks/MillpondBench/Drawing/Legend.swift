/// The meaning of the colours, in one line.
struct Legend {
  /// An entry's sample: a patch of a colour, or a stroke as the mark of a target has it.
  enum Sample {
    case patch(String)
    case stroke(String)
  }

  private static let sampleWidth = 12.0
  private static let gap = 18.0

  let entries: [(sample: Sample, text: Text)]

  var width: Double {
    entries.reduce(0) { $0 + Self.sampleWidth + 6 + $1.text.width + Self.gap }
  }

  /// - Parameter place: The start, on the baseline of the letters.
  func draw(on canvas: inout Canvas, at place: (x: Double, y: Double), _ palette: Palette) {
    var x = place.x
    for entry in entries {
      switch entry.sample {
      case .patch(let colour):
        canvas.fill(Box(x: x, y: place.y - 10, width: Self.sampleWidth, height: 11), colour)
      case .stroke(let colour):
        let middle = x + Self.sampleWidth / 2
        canvas.line(from: (middle, place.y - 11), to: (middle, place.y + 2), colour, width: 2.5)
      }
      x += Self.sampleWidth + 6
      canvas.write(entry.text, at: (x, place.y), palette.ink)
      x += entry.text.width + Self.gap
    }
  }
}
