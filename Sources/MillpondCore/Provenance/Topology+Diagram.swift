extension Source {
  /// The composition as a tree in text, with the layer that is asked first on top.
  public var diagram: String {
    topology(for: nil).diagram
  }

  /// The composition in the Mermaid language.
  public var mermaidDiagram: String {
    topology(for: nil).mermaidDiagram
  }
}

extension Topology {
  /// The tree in text, with a line for each layer and its wrappers.
  public var diagram: String {
    lines.joined(separator: "\n")
  }

  /// The tree in the Mermaid language.
  public var mermaidDiagram: String {
    var drawing = ["flowchart TD"]
    draw(into: &drawing)
    return drawing.joined(separator: "\n")
  }

  /// The parts, with layers of layers flattened into one list, since they are asked in that order.
  var flattenedParts: [Topology] {
    parts.flatMap { $0.role == .layers && $0.name == nil ? $0.flattenedParts : [$0] }
  }

  /// This part and the parts that it wraps, down to the first that is not a wrapper.
  package var chain: [Topology] {
    if role == .wrapper, parts.count == 1 { [self] + parts[0].chain } else { [self] }
  }

  private var caption: String {
    name.map { "“\($0)” \(title)" } ?? title
  }

  private var chainCaption: String {
    chain.map(\.caption).joined(separator: " · ")
  }

  /// The parts under those of the chain.
  package var partsBelow: [Topology] {
    let last = chain[chain.count - 1]
    return last.role == .layers ? last.flattenedParts : last.parts
  }

  private var lines: [String] {
    let below = partsBelow
    return [chainCaption]
      + below.enumerated().flatMap { number, part in
        let isLast = number == below.count - 1
        return part.lines.enumerated().map { line, text in
          (line > 0 ? (isLast ? "   " : "│  ") : (isLast ? "└─ " : "├─ ")) + text
        }
      }
  }

  @discardableResult
  private func draw(into drawing: inout [String]) -> String {
    let id = "n\(drawing.count)"
    drawing.append("  \(id)[\"\(chainCaption.mermaidEscaped)\"]")
    for (number, part) in partsBelow.enumerated() {
      let child = part.draw(into: &drawing)
      drawing.append("  \(id) -->|\(number + 1)| \(child)")
    }
    return id
  }
}

extension String {
  /// The text with escapes for characters that would end a label or a line.
  fileprivate var mermaidEscaped: String {
    var escaped = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "\"", "#", "<", ">", "&", "\n", "\r", "`": escaped += "#\(scalar.value);"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
