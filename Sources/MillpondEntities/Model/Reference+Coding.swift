extension Reference: CustomStringConvertible {
  /// The type and the identity, for people.
  public var description: String {
    "\(Target.self) \(id)"
  }
}

extension Reference: Encodable where Target.ID: Encodable {
  /// Encodes the identity, and nothing around it.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(id)
  }
}

extension Reference: Decodable where Target.ID: Decodable {
  /// Decodes an identity.
  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(Target.ID.self))
  }
}
