public import Foundation
import MillpondCore

/// The head of a stored response, and the request and times that belong to it.
///
/// A cache keeps its body elsewhere. To ask ``HTTPCacheRules`` about a response of your own, create
/// one from the parts.
public final class StoredResponse: Sendable {
  /// The status code.
  public let status: Int

  /// The header fields, as updated by later 304 responses.
  public let headers: HeaderFields

  /// The time at which the request was sent, and the one at which the head arrived.
  let requestTime: WallTime
  let responseTime: WallTime

  let variant: VariantKey
  let parsed: ParsedResponse

  /// The number and the length of the body in the store, and its key there.
  let body: StoredBody
  let bodyPlace: String

  /// Creates a stored response; nil if its `Vary` is "*" or can't be read, since no request selects
  /// it.
  ///
  /// - Parameters:
  ///   - head: The head.
  ///   - request: The request that it answered.
  ///   - requestTime: The time at which the request was sent.
  ///   - responseTime: The time at which the head arrived.
  public convenience init?(
    _ head: HTTPHead, to request: HTTPRequest, requestTime: Date, responseTime: Date
  ) {
    self.init(
      head, to: ParsedRequest(request), requestTime: WallTime(requestTime),
      responseTime: WallTime(responseTime))
  }

  convenience init?(
    _ head: HTTPHead, to request: ParsedRequest, requestTime: WallTime, responseTime: WallTime,
    body: StoredBody = StoredBody()
  ) {
    guard let variant = VariantKey(of: head.headers, to: request) else { return nil }
    self.init(
      status: head.status, headers: head.headers.withoutConnectionFields,
      requestTime: requestTime, responseTime: responseTime, variant: variant, body: body)
  }

  init(
    status: Int, headers: HeaderFields, requestTime: WallTime, responseTime: WallTime,
    variant: VariantKey, body: StoredBody, parsed: ParsedResponse? = nil
  ) {
    self.status = status
    self.headers = headers
    self.requestTime = requestTime.clamped
    self.responseTime = responseTime.clamped
    self.variant = variant
    self.body = body
    bodyPlace = body.place
    self.parsed = parsed ?? ParsedResponse(status: status, headers: headers)
  }

  /// Whether a request with these fields and credentials selects this response.
  func matches(_ request: ParsedRequest) -> Bool {
    isForCaller(of: request) && variant.isSelected(by: request)
  }

  /// Whether the response is for the caller of a request.
  func isForCaller(of request: ParsedRequest) -> Bool {
    variant.credentials
      == (parsed.directives.has(.isPrivate)
        ? request.caller(variant.salt) : request.credentials(variant.salt))
  }

  /// Whether the response may stay stored with the fields that it has.
  var isStorable: Bool { parsed.prohibition == nil && !headers.isTooLargeToStore }

  /// Returns the same response with another body.
  func with(_ body: StoredBody) -> StoredResponse {
    StoredResponse(
      status: status, headers: headers, requestTime: requestTime, responseTime: responseTime,
      variant: variant, body: body, parsed: parsed)
  }

  /// The point from which the rest of an incomplete body can be requested; nil of a whole one, and
  /// of one whose version is unknown.
  ///
  /// - Source: RFC 9111 §3.3, §3.4.
  var resumePoint: ResumePoint? {
    guard !body.isWhole, let version else { return nil }
    let point = ResumePoint(version: version, byteCount: body.byteCount)
    return point.isMiddle ? point : nil
  }

  /// The version of the body; nil if the origin does not say exactly which one it is.
  var version: ResourceVersion? { ResourceVersion(HTTPHead(status: status, headers: headers)) }

  /// The time at which the response left its origin, as far as it is known.
  var origination: Int64 { parsed.date ?? responseTime.microseconds }
}

/// The place of a body in a store.
struct StoredBody: Sendable, Equatable {
  /// The number of the body, which no other body has.
  var number = Fingerprint.none
  var byteCount = 0

  /// Whether these are all bytes of the body, and not only its beginning.
  var isWhole = true

  /// The key in the store.
  var place: String { "body \(number.text)" }
}

extension WallTime {
  /// Creates the time of a date; far dates and those that are no number become the nearest that can
  /// be computed with.
  init(_ date: Date) {
    let seconds = date.timeIntervalSince1970
    guard !seconds.isNaN else {
      self.init(microseconds: -Self.farthest)
      return
    }
    let bound = Double(Self.farthest / 1_000_000)
    self.init(microseconds: Int64(min(max(seconds, -bound), bound) * 1e6))
  }

  /// The same time, or the nearest whose distance to any other fits a number.
  var clamped: WallTime {
    WallTime(microseconds: min(max(microseconds, -Self.farthest), Self.farthest))
  }

  /// Twelve thousand years in microseconds: more than a date in HTTP can state.
  private static let farthest: Int64 = 12_000 * 366 * 86_400 * 1_000_000
}

extension HeaderFields {
  /// Whether the fields of a head are more bytes than are stored.
  var isTooLargeToStore: Bool { byteCount > HTTPLimits.standard.headerByteLimit }

  /// The fields without those that are only for one connection.
  ///
  /// - Source: RFC 9111 §3.1, RFC 9110 §7.6.1.
  var withoutConnectionFields: HeaderFields {
    var names = Self.connectionNames
    for value in values(of: "Connection") {
      // What a cache depends on is kept, whatever a broken origin lists.
      for name in value.listMembers().map({ $0.lowercased() })
      where !Self.neededNames.contains(name) {
        names.insert(name)
      }
    }
    return HeaderFields(fields.filter { !names.contains($0.name.lowercased()) })
  }

  private static let connectionNames: Set<String> = [
    "connection", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade",
    "trailer", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
  ]

  private static let neededNames: Set<String> = [
    "cache-control", "vary", "expires", "date", "age", "etag", "content-length",
    "content-encoding", "content-type",
  ]
}
