import Foundation

/// A picture that is finished.
struct Drawing {
  /// The picture as an element for a page.
  let element: String

  /// The picture as a document of SVG.
  var document: String { #"<?xml version="1.0" encoding="UTF-8"?>"# + "\n" + element }
}

/// A drawing in progress, as elements of SVG in the order in which they cover each other.
struct Canvas {
  /// The side of its place on which a text is drawn.
  enum Anchor: String {
    case start, middle, end
  }

  private var elements: [String] = []

  mutating func fill(_ box: Box, _ colour: String) {
    elements.append(
      "<rect x=\"\(number(box.x))\" y=\"\(number(box.y))\" width=\"\(number(box.width))\""
        + " height=\"\(number(box.height))\" fill=\"\(colour)\"/>")
  }

  /// - Parameter width: The width of the stroke.
  mutating func line(
    from start: (x: Double, y: Double), to end: (x: Double, y: Double), _ colour: String,
    width: Double = 1
  ) {
    elements.append(
      "<line x1=\"\(number(start.x))\" y1=\"\(number(start.y))\" x2=\"\(number(end.x))\""
        + " y2=\"\(number(end.y))\" stroke=\"\(colour)\" stroke-width=\"\(number(width))\"/>")
  }

  /// One line through all the points.
  mutating func path(through points: [(x: Double, y: Double)], _ colour: String, width: Double) {
    let places = points.map { "\(number($0.x)),\(number($0.y))" }.joined(separator: " ")
    elements.append(
      "<polyline points=\"\(places)\" fill=\"none\" stroke=\"\(colour)\""
        + " stroke-width=\"\(number(width))\" stroke-linejoin=\"round\""
        + " stroke-linecap=\"round\"/>")
  }

  mutating func dot(at centre: (x: Double, y: Double), radius: Double, _ colour: String) {
    elements.append(
      "<circle cx=\"\(number(centre.x))\" cy=\"\(number(centre.y))\" r=\"\(number(radius))\""
        + " fill=\"\(colour)\"/>")
  }

  /// - Parameter place: The anchor, on the baseline of the letters.
  mutating func write(
    _ text: Text, at place: (x: Double, y: Double), _ colour: String, _ anchor: Anchor = .start
  ) {
    elements.append(
      "<text x=\"\(number(place.x))\" y=\"\(number(place.y))\" font-size=\"\(number(text.size))\""
        + " fill=\"\(colour)\" text-anchor=\"\(anchor.rawValue)\">\(text.escaped)</text>")
  }

  /// Returns the picture on a ground of its own, so that it reads in dark viewers too.
  func drawing(width: Double, height: Double, title: String, background: String) -> Drawing {
    Drawing(
      element: """
        <svg xmlns="http://www.w3.org/2000/svg" width="\(number(width))" height="\(number(height))" \
        viewBox="0 0 \(number(width)) \(number(height))" font-family="\(Text.fonts)" role="img">
        <title>\(Text(content: title).escaped)</title>
        <rect width="100%" height="100%" fill="\(background)"/>
        \(elements.joined(separator: "\n"))
        </svg>

        """)
  }

  private func number(_ value: Double) -> String {
    String(format: "%.1f", value)
  }
}
