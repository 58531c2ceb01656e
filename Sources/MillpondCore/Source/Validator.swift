/// What an origin gave along with a value, to be asked later whether that is still good.
///
/// - Source: RFC 9110 §8.8.
public struct Validator: Sendable {
  /// One object, so that values that come without are light to carry.
  private let parts: Parts

  private final class Parts: Sendable {
    let entityTag: String?
    let lastModified: String?

    init(entityTag: String?, lastModified: String?) {
      self.entityTag = entityTag
      self.lastModified = lastModified
    }
  }

  /// States what the origin gave.
  public init(entityTag: String? = nil, lastModified: String? = nil) {
    parts = Parts(entityTag: entityTag, lastModified: lastModified)
  }

  /// The `ETag`, quotes included.
  public var entityTag: String? { parts.entityTag }

  /// The `Last-Modified` date, as it was sent.
  public var lastModified: String? { parts.lastModified }
}

extension Validator: Hashable {
  /// Whether both were given alike.
  public static func == (left: Validator, right: Validator) -> Bool {
    left.entityTag == right.entityTag && left.lastModified == right.lastModified
  }

  /// Hashes both parts.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(entityTag)
    hasher.combine(lastModified)
  }
}
