import Foundation

@testable import MillpondBench

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// The contents of a document of SVG as a parser reads it.
struct ParsedPicture {
  struct Element {
    let name: String
    let attributes: [String: String]
    var content = ""

    func number(_ attribute: String) -> Double {
      attributes[attribute].flatMap(Double.init) ?? .nan
    }
  }

  let elements: [Element]

  /// Parses a document; nil if it is not well formed.
  init?(_ document: String) {
    let reader = Reader()
    let parser = XMLParser(data: Data(document.utf8))
    parser.delegate = reader
    guard parser.parse() else { return nil }
    elements = reader.elements
  }

  func named(_ name: String) -> [Element] {
    elements.filter { $0.name == name }
  }

  var texts: [String] {
    named("text").map(\.content)
  }

  /// Returns the widths of the rectangles of a colour, from top to bottom.
  func widths(of colour: String) -> [Double] {
    named("rect").filter { $0.attributes["fill"] == colour }.map { $0.number("width") }
  }

  var background: Box {
    elements[0].box
  }
}

extension ParsedPicture.Element {
  /// The area of a rectangle, or the greatest one of a text.
  var box: Box {
    guard name == "text" else {
      return Box(
        x: attributes["x"] == nil ? 0 : number("x"), y: attributes["y"] == nil ? 0 : number("y"),
        width: number("width"), height: number("height"))
    }
    let size = number("font-size")
    let width = Text(content: content, size: size).width
    let shift = ["start": 0, "middle": 0.5, "end": 1][attributes["text-anchor"]] ?? .nan
    return Box(
      x: number("x") - shift * width, y: number("y") - size * 0.8, width: width, height: size)
  }
}

extension Box {
  func overlaps(_ other: Box) -> Bool {
    x < other.right && other.x < right && y < other.bottom && other.y < bottom
  }
}

private final class Reader: NSObject, XMLParserDelegate {
  private(set) var elements: [ParsedPicture.Element] = []
  private var open: [Int] = []

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
    qualifiedName: String?, attributes: [String: String]
  ) {
    open.append(elements.count)
    elements.append(.init(name: name, attributes: attributes))
  }

  func parser(
    _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
  ) {
    open.removeLast()
  }

  func parser(_ parser: XMLParser, foundCharacters string: String) {
    if let element = open.last { elements[element].content += string }
  }
}
