/// What an origin gave along with a value, to be asked later whether that is still good.
///
/// - Source: RFC 9110 §8.8.
public struct Validator: Sendable, Hashable {
  /// The `ETag`, quotes included.
  public let entityTag: String?

  /// The `Last-Modified` date, as it was sent.
  public let lastModified: String?

  /// States what the origin gave.
  public init(entityTag: String? = nil, lastModified: String? = nil) {
    self.entityTag = entityTag
    self.lastModified = lastModified
  }
}
