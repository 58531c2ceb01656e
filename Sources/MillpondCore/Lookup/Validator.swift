/// The validator that an origin sent with a value, to ask it later whether that is still current.
///
/// - Source: RFC 9110 §8.8.
public struct Validator: Sendable {
  /// The two parts in one object, so that values without a validator stay small.
  private let parts: Parts

  private final class Parts: Sendable {
    let entityTag: String?
    let lastModified: String?

    init(entityTag: String?, lastModified: String?) {
      self.entityTag = entityTag
      self.lastModified = lastModified
    }
  }

  /// Creates a validator from response fields.
  ///
  /// - Parameters:
  ///   - entityTag: The value of `ETag`, quotes included; nil for none.
  ///   - lastModified: The value of `Last-Modified`; nil for none.
  public init(entityTag: String? = nil, lastModified: String? = nil) {
    parts = Parts(entityTag: entityTag, lastModified: lastModified)
  }

  /// The `ETag` field, quotes included.
  public var entityTag: String? { parts.entityTag }

  /// The `Last-Modified` field, as it was sent.
  public var lastModified: String? { parts.lastModified }

  /// Whether there is neither field, so that an origin can't be asked.
  package var isEmpty: Bool { entityTag == nil && lastModified == nil }
}

extension Validator: Hashable {
  /// Whether both parts have the same bytes, since an origin compares nothing else.
  ///
  /// - Parameters:
  ///   - left: A validator.
  ///   - right: Another validator.
  public static func == (left: Validator, right: Validator) -> Bool {
    haveSameBytes(left.entityTag, right.entityTag)
      && haveSameBytes(left.lastModified, right.lastModified)
  }

  private static func haveSameBytes(_ left: String?, _ right: String?) -> Bool {
    guard let left, let right else { return left == nil && right == nil }
    return left.utf8.elementsEqual(right.utf8)
  }

  /// Hashes both parts.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(entityTag)
    hasher.combine(lastModified)
  }
}
