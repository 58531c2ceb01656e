import Foundation
import MillpondCore

extension StoredResponse {
  /// The validator, as far as the origin can be asked about it.
  var validator: Validator {
    Validator(entityTag: parsed.entityTag?.text, lastModified: parsed.lastModifiedText)
  }

  /// Whether the condition of a request is true, so that it gets the response and not a 304; nil if
  /// it can't be evaluated here.
  ///
  /// - Source: RFC 9110 §13.1.2, §13.1.3, §13.2.2; RFC 9111 §4.3.2.
  func evaluates(_ request: ParsedRequest) -> Bool? {
    guard status == 200 else { return nil }
    if !request.noneMatch.isEmpty {
      return EntityTag.isNamed(parsed.entityTag, in: request.noneMatch).map { !$0 }
    }
    guard let date = request.modifiedSince.flatMap({ HTTPDate($0) }) else { return nil }
    return (parsed.lastModified ?? origination) > date.microseconds
  }

  /// Whether a 304, in answer to a question about this response, confirms it.
  ///
  /// - Parameters:
  ///   - head: The head of the 304.
  ///   - isAsked: Whether the request had the conditions of this response.
  /// - Source: RFC 9111 §4.3.4.
  func isConfirmed(by head: HTTPHead, isAsked: Bool) -> Bool {
    // Validators identify versions of one resource, and a redirect leads to another.
    !head.isRedirected && validator.isConfirmed(by: head.headers, isAsked: isAsked)
  }

  /// Whether the answer to a HEAD request describes this response.
  ///
  /// - Source: RFC 9111 §4.3.5.
  func isDescribed(by head: HTTPHead) -> Bool {
    let new = ParsedResponse(status: head.status, headers: head.headers)
    guard head.status == 200, !head.isRedirected, status == 200, new.entityTag == parsed.entityTag,
      new.lastModifiedText == parsed.lastModifiedText
    else { return false }
    let lengths = head.headers.values(of: "Content-Length")
    return lengths.isEmpty || lengths == headers.values(of: "Content-Length")
  }

  /// Returns the response with the fields of a newer head of the same version; nil if no request
  /// selects it any more.
  ///
  /// - Source: RFC 9111 §3.2.
  func updated(
    by head: HTTPHead, for request: ParsedRequest, requestTime: WallTime, responseTime: WallTime
  ) -> StoredResponse? {
    let fields = headers(updatedBy: head)
    guard let variant = VariantKey(of: fields, to: request, salt: variant.salt) else { return nil }
    return StoredResponse(
      status: status, headers: fields, requestTime: requestTime, responseTime: responseTime,
      variant: variant, body: body)
  }

  /// Returns the fields, those of a newer head of the same version first.
  private func headers(updatedBy head: HTTPHead) -> HeaderFields {
    let new = head.headers.withoutConnectionFields.fields
      .filter { !Self.contentFields.contains($0.name.lowercased()) }
    var names = Set(new.map { $0.name.lowercased() })
    // The old ones describe another message.
    names.formUnion(["age", "date"])
    return HeaderFields(headers.fields.filter { !names.contains($0.name.lowercased()) } + new)
  }

  /// Returns the head of the whole response, if the answer to a request for the rest brings exactly
  /// what is missing of this one; nil if the two can't be combined.
  ///
  /// - Source: RFC 9111 §3.4, RFC 9110 §15.3.7.3.
  func whole(combinedWith head: HTTPHead) -> HTTPHead? {
    guard !head.isRedirected, let resumePoint,
      let count = (try? BodyLength(head, resuming: resumePoint))?.expected
    else { return nil }
    var fields = headers(updatedBy: head)
    fields.set("\(count)", for: "Content-Length")
    return HTTPHead(status: status, headers: fields)
  }

  /// Whether a part of a body that the origin sent belongs to this whole response.
  func isOfSameVersion(asPart head: HTTPHead) -> Bool {
    guard body.isWhole, !head.isRedirected, let range = ContentRange(head.headers),
      range.total == body.byteCount
    else { return false }
    return version?.isOf(head, total: range.total) == true
  }

  /// The fields that describe the stored bytes, and so outlive an update.
  ///
  /// A 304 of some origins has the type or the length of its own empty body.
  private static let contentFields: Set<String> = [
    "content-length", "content-encoding", "content-range", "content-type",
  ]
}

extension [StoredResponse] {
  /// Returns the response that a request selects: the latest, if several match.
  ///
  /// Without a match, a response that shows why none matches.
  ///
  /// - Source: RFC 9111 §4.1.
  func selected(by request: ParsedRequest) -> StoredResponse? {
    // Nearly always there is one.
    if count == 1 { return self[0] }
    let own = filter { $0.isForCaller(of: request) }
    let matching = own.filter { $0.variant.isSelected(by: request) }
    return matching.max { ($0.origination, $0.responseTime) < ($1.origination, $1.responseTime) }
      ?? own.first ?? first
  }

  /// Returns the latest responses, one of each version, for other fields of a request than its own,
  /// which the origin may name as the answer to it.
  ///
  /// - Source: RFC 9111 §4.3.1.
  func others(for request: ParsedRequest) -> [StoredResponse] {
    var named: [EntityTag] = []
    return reversed().filter { response in
      guard response.status == 200, response.body.isWhole,
        response.isForCaller(of: request),
        let tag = response.parsed.entityTag, !named.contains(where: { $0.isWeaklyEqual(to: tag) })
      else { return false }
      named.append(tag)
      return named.count <= 8
    }
  }
}
