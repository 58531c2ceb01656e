import Foundation
import MillpondCore

/// A version of a resource's content, as its origin identifies it.
struct ResourceVersion: Sendable, Equatable {
  /// The value of `If-Range`: an entity tag or a date that identifies exactly these bytes.
  let condition: String

  let validator: Validator

  /// The size of the whole body in bytes; nil if the origin did not state it.
  var total: Int?
}

extension ResourceVersion {
  /// Creates the version of a complete answer; nil if the rest of it can't be requested.
  init?(_ head: HTTPHead) {
    guard head.status == 200, let condition = head.headers.rangeCondition else { return nil }
    self.condition = condition
    validator = Validator(
      entityTag: head.headers["ETag"], lastModified: head.headers["Last-Modified"])
    total = (try? BodyLength(head))?.expected
    // A date alone does not suffice: the length has to match too.
    if validator.entityTag == nil, total == nil { return nil }
  }

  /// Whether a range with this head belongs to this version, of which there are `total` bytes.
  ///
  /// Both have to share a strong validator: an entity tag or, if neither has one, a date. The
  /// condition that was sent proves nothing, since some origins and CDNs ignore `If-Range`.
  ///
  /// - Source: RFC 9110 §15.3.7.3.
  func isOf(_ head: HTTPHead, total: Int) -> Bool {
    if let known = self.total, known != total { return false }
    let tags = head.headers.values(of: "ETag")
    if let own = validator.entityTag {
      return tags.count == 1 && tags[0].utf8.elementsEqual(own.utf8)
    }
    return tags.isEmpty && self.total == total && validator.lastModified != nil
      && head.headers["Last-Modified"] == validator.lastModified
  }
}

extension HTTPHead {
  /// Returns the range of an answer that continues a body after its first bytes; nil if it brings
  /// other bytes, or those of another version.
  ///
  /// - Parameters:
  ///   - byteCount: The number of the first bytes.
  ///   - version: Their version; nil before the first answer.
  func range(after byteCount: Int, of version: ResourceVersion?) -> ContentRange? {
    guard status == 206, !headers.areOfEncoded, let range = ContentRange(headers),
      range.first == byteCount, version.map({ $0.isOf(self, total: range.total) }) ?? true
    else { return nil }
    return range
  }
}

/// The version of a partial body, and the number of its bytes.
struct ResumePoint: Sendable, Equatable {
  let version: ResourceVersion
  let byteCount: Int

  /// Whether some bytes are there, and others are missing.
  var isMiddle: Bool { byteCount > 0 && byteCount < version.total ?? .max }
}

extension HTTPHead {
  /// Returns the point from which this answer continues a body; nil if it begins one.
  ///
  /// - Parameter earlier: The resume point, if the rest was requested.
  func continued(_ earlier: ResumePoint?) -> ResumePoint? { status == 206 ? earlier : nil }

  /// Returns the version of the body; nil if its rest can't be requested should it break off.
  ///
  /// - Parameter earlier: The resume point, if the rest was requested.
  func version(resuming earlier: ResumePoint?) -> ResourceVersion? {
    continued(earlier)?.version ?? ResourceVersion(self)
  }
}

extension HTTPRequest {
  /// Returns the request for the rest after these bytes, or for all if they are out of date.
  func resuming(_ resumePoint: ResumePoint) -> HTTPRequest {
    asking(forBytes: "\(resumePoint.byteCount)-", of: resumePoint.version)
  }

  /// Returns the request for a range of the body, such as `5-` or `0-99`, or for all of it if that
  /// is of another version.
  ///
  /// Unencoded, since ranges count the bytes that are sent.
  func asking(forBytes range: String, of version: ResourceVersion?) -> HTTPRequest {
    var request = self
    request.headers.set("bytes=\(range)", for: "Range")
    request.headers.set(version?.condition, for: "If-Range")
    request.headers.set("identity", for: "Accept-Encoding")
    return request
  }
}

extension HeaderFields {
  /// The value to send as `If-Range` for bytes of this answer; nil if there is none.
  ///
  /// Neither a weak entity tag, nor a date beside one, nor a date that is not strong can be sent.
  ///
  /// - Source: RFC 9110 §13.1.5, §8.8.1; RFC 9111 §5.2.2.5.
  fileprivate var rangeCondition: String? {
    if areOfEncoded || CacheDirectives(values(of: "Cache-Control")).has(.noStore) { return nil }
    let units = values(of: "Accept-Ranges").flatMap { $0.listMembers() }
    if units.contains(where: { $0.lowercased() == "none" }) { return nil }
    let tags = values(of: "ETag")
    if let tag = tags.first {
      return tags.count == 1 && EntityTag(tag)?.isWeak == false ? tag : nil
    }
    guard let date = self["Last-Modified"], let changed = HTTPDate(date),
      let sent = self["Date"].flatMap({ HTTPDate($0) }),
      changed.isStrong(ofAnswerSentAt: sent.seconds)
    else { return nil }
    return date
  }
}

extension Error {
  /// Whether the bytes before this failure may be the beginning of an answer.
  var leavesRest: Bool {
    if self is LostResumePoint { return false }
    switch self as? TransferError {
    case nil, .truncated, .timedOut: return true
    case .status: return !saysItIsGone
    default: return false
    }
  }
}

extension BodyLength {
  /// Creates the body length of an answer to a request for the rest of a body.
  ///
  /// - Throws: The status, if this is not the rest of exactly these bytes, or not all of it.
  init(_ head: HTTPHead, resuming earlier: ResumePoint) throws(TransferError) {
    guard let range = head.range(after: earlier.byteCount, of: earlier.version),
      range.last == range.total - 1
    else { throw .status(code: head.status, headers: head.headers) }
    self = .exactly(range.total)
  }
}

/// A `Content-Range` of bytes.
///
/// - Source: RFC 9110 §14.4.
struct ContentRange: Equatable {
  let first: Int
  let last: Int
  let total: Int

  init?(_ headers: HeaderFields) {
    let values = headers.values(of: "Content-Range")
    guard values.count == 1, let parts = values.first?.split(separator: " "), parts.count == 2,
      parts[0].lowercased() == "bytes"
    else { return nil }
    let numbers = parts[1].split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "/" }
    guard numbers.count == 3, let first = Int(digits: numbers[0]),
      let last = Int(digits: numbers[1]), let total = Int(digits: numbers[2]),
      first <= last, last < total
    else { return nil }
    self.first = first
    self.last = last
    self.total = total
  }
}
