/// Header fields in order; names compare without regard to case.
///
///     let headers: HeaderFields = ["ETag": "\"7\""]
///     headers["etag"]  // "\"7\""
public struct HeaderFields: Sendable, ExpressibleByDictionaryLiteral {
  /// The fields as they were sent or are to be sent, repeated names included.
  public let fields: [(name: String, value: String)]

  /// Headers of these fields.
  public init(_ fields: [(name: String, value: String)]) {
    self.fields = fields
  }

  /// Headers of a literal's fields, in its order.
  public init(dictionaryLiteral fields: (String, String)...) {
    self.fields = fields.map { (name: $0.0, value: $0.1) }
  }

  /// The first value of a field.
  public subscript(name: String) -> String? {
    values(of: name).first
  }

  /// Every value of a field.
  public func values(of name: String) -> [String] {
    let name = name.lowercased()
    return fields.filter { $0.name.lowercased() == name }.map(\.value)
  }
}
