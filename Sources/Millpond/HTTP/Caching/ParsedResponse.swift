import Foundation
import MillpondCore

/// The fields of a response that matter to a cache, parsed once when it is stored.
struct ParsedResponse: Sendable {
  let status: Int
  let directives: CacheDirectives

  /// The time at which the origin sent it, in microseconds; nil if it did not say.
  let date: Int64?

  /// The age on arrival that caches on the way stated, in microseconds.
  let statedAge: Int64

  /// The time at which it expires, after the beginning of 1970; an unclear one has passed.
  let expiry: StatedSeconds
  let entityTag: EntityTag?

  /// The time of the last change, in microseconds, if it is a valid date.
  let lastModified: Int64?

  /// The `Last-Modified` field, if it is a valid date.
  let lastModifiedText: String?

  /// Whether the bytes of the body are not those that the origin counts in ranges.
  let isDecoded: Bool

  init(status: Int, headers: HeaderFields) {
    self.status = status
    directives = CacheDirectives(headers.values(of: "Cache-Control"))
    let dates = headers.values(of: "Date").compactMap { HTTPDate($0)?.microseconds }
    date = dates.min()
    statedAge = Self.age(headers.values(of: "Age"))
    expiry = Self.expiry(headers.values(of: "Expires"))
    entityTag = EntityTag(of: headers)
    let changes = headers.values(of: "Last-Modified")
    let change = changes.count == 1 ? HTTPDate(changes[0]) : nil
    lastModified = change?.microseconds
    lastModifiedText = change == nil ? nil : changes[0]
    isDecoded = headers.areOfEncoded
  }

  /// Whether the origin can be asked if the response is still current.
  var hasValidator: Bool { entityTag != nil || lastModifiedText != nil }

  /// Whether the origin states for how long the response is fresh.
  var statesFreshness: Bool { directives.maxAge != .absent || expiry != .absent }

  /// Whether an age limit may be estimated.
  ///
  /// - Source: RFC 9110 §15.1, RFC 9111 §4.2.2.
  var mayBeEstimated: Bool { Self.estimated.contains(status) || directives.has(.isPublic) }

  /// The reason for which the origin forbids storing; nil if it does not.
  ///
  /// - Source: RFC 9111 §3, §5.2.2.3, §5.2.2.5.
  var prohibition: HTTPCacheReason? {
    if directives.has(.mustUnderstand) { return isOfKnownStatus ? nil : .unknownStatus }
    return directives.has(.noStore) ? .responseNoStore : nil
  }

  /// Whether this cache knows what the status asks of it.
  ///
  /// - Source: RFC 9111 §5.2.2.3; the statuses of RFC 9110 §15 whose answers are kept whole.
  var isOfKnownStatus: Bool { Self.known.contains(status) }

  private static let estimated: Set<Int> = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]
  private static let known = estimated.union([302, 303, 307, 400, 401, 403, 406, 409, 421, 451])

  /// The first age of all; one that is no number is ignored.
  ///
  /// - Source: RFC 9111 §5.1.
  private static func age(_ values: [String]) -> Int64 {
    let age = values.first?.listMembers().first.flatMap { Int(saturating: $0) }
    return Int64(age ?? 0) * 1_000_000
  }

  /// - Source: RFC 9111 §5.3: what is no date, such as "0", is a time in the past.
  private static func expiry(_ values: [String]) -> StatedSeconds {
    guard let first = values.first else { return .absent }
    guard values.allSatisfy({ $0 == first }), let date = HTTPDate(first) else {
      return .unclear
    }
    return .exactly(date.seconds)
  }
}
