/// Header fields in order, whose names are compared without regard to case.
///
///     let headers: Headers = ["ETag": "\"7\"", "Cache-Control": "max-age=60"]
///     headers["etag"]  // "\"7\""
public struct Headers: Sendable, ExpressibleByDictionaryLiteral {
  /// The fields as sent or received, including repeated names.
  public private(set) var fields: [(name: String, value: String)]

  /// Creates headers of these fields.
  public init(_ fields: [(String, String)] = []) {
    self.fields = fields.map { (name: $0.0, value: $0.1) }
  }

  /// Creates headers of a literal's fields, in its order.
  public init(dictionaryLiteral fields: (String, String)...) { self.init(fields) }

  /// The first value of a field; setting replaces all fields of that name, and nil removes them.
  public subscript(name: String) -> String? {
    get { fields.first { isSame($0.name, name) }?.value }
    set {
      fields = fields.filter { !isSame($0.name, name) }
      if let newValue { fields.append((name: name, value: newValue)) }
    }
  }

  /// Returns all values of a field.
  package func allValues(of name: String) -> [String] {
    fields.filter { isSame($0.name, name) }.map(\.value)
  }

  /// Returns whether a list field, such as Connection, contains this word.
  package func lists(_ word: String, in name: String) -> Bool {
    allValues(of: name).contains { value in
      value.split(separator: ",").contains { isSame($0.trimmed, word) }
    }
  }

  private func isSame(_ one: some StringProtocol, _ other: String) -> Bool {
    one.utf8.count == other.utf8.count && one.lowercased() == other.lowercased()
  }
}

extension Substring {
  fileprivate var trimmed: Substring {
    let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    guard let first = firstIndex(where: { !isBlank($0) }),
      let last = lastIndex(where: { !isBlank($0) })
    else { return "" }
    return self[first...last]
  }
}
