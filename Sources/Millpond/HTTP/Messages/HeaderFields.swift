/// An ordered list of header fields, whose names compare without regard to case.
///
///     let headers: HeaderFields = ["ETag": "\"7\""]
///     headers["etag"]  // "\"7\""
public struct HeaderFields: Sendable, ExpressibleByDictionaryLiteral {
  /// The fields in the order of the message, repeated names included.
  public private(set) var fields: [(name: String, value: String)]

  /// Creates a list of these fields.
  public init(_ fields: [(name: String, value: String)]) {
    self.fields = fields
  }

  /// Creates a list of the fields of a literal, in its order.
  public init(dictionaryLiteral fields: (String, String)...) {
    self.fields = fields.map { (name: $0.0, value: $0.1) }
  }

  /// The first value of a field.
  ///
  /// - Parameter name: The name of the field, in any case.
  public subscript(name: String) -> String? {
    values(of: name).first
  }

  /// Returns every value of a field.
  ///
  /// - Parameter name: The name of the field, in any case.
  @inline(never)
  public func values(of name: String) -> [String] {
    var values: [String] = []
    for field in fields where name.isSameField(as: field.name) { values.append(field.value) }
    return values
  }

  @inline(never)
  mutating func append(_ value: String, for name: String) {
    fields.append((name: name, value: value))
  }

  /// Sets a field to a single value, or removes it.
  @inline(never)
  mutating func set(_ value: String?, for name: String) {
    // One copy, since the list is nearly always shared, with room for one more field after this.
    var changed: [(name: String, value: String)] = []
    changed.reserveCapacity(fields.count + 2)
    for field in fields where !name.isSameField(as: field.name) { changed.append(field) }
    if let value { changed.append((name: name, value: value)) }
    fields = changed
  }

  mutating func removeAll(where isUnneeded: (_ name: String) -> Bool) {
    fields.removeAll { isUnneeded($0.name) }
  }

  mutating func append(_ other: HeaderFields) { fields += other.fields }

  /// The size in bytes, names included.
  var byteCount: Int {
    // Separators count too, so that many empty fields do not count as nothing.
    fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
  }
}

extension HeaderFields: CustomStringConvertible {
  /// The names of the fields, without their values, which may be secret.
  public var description: String { "[\(fields.map(\.name).joined(separator: ", "))]" }
}

extension HeaderFields: CustomReflectable {
  /// No children, so that a dump shows no values.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension String {
  /// Whether both are the name of one field; letters of ASCII compare without regard to case.
  @inline(__always)
  func isSameField(as other: String) -> Bool {
    // Inlined where it is called: lengths distinguish most names.
    utf8.count == other.utf8.count && hasSameLetters(as: other)
  }

  @inline(never)
  private func hasSameLetters(as other: String) -> Bool {
    if self == other { return true }
    var (own, other) = (self, other)
    return own.withUTF8 { own in
      other.withUTF8 { other in
        for index in own.indices where own[index] != other[index] {
          if own[index].inLowerCase != other[index].inLowerCase { return false }
        }
        return true
      }
    }
  }
}

extension UInt8 {
  /// The lower-case letter of an upper-case one of ASCII; any other byte as it is.
  var inLowerCase: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }

  /// Whether this byte may be part of a token.
  ///
  /// - Source: RFC 9110 §5.6.2.
  var isTokenByte: Bool {
    switch self {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true
    default: false
    }
  }
}
