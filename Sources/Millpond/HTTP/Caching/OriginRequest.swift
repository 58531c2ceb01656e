import MillpondCore

/// A request to the origin on behalf of an HTTP cache.
///
/// Two with the same name can share one transfer.
final class OriginRequest: Hashable, Sendable, CustomStringConvertible {
  let request: HTTPRequest
  let parsed: ParsedRequest

  /// The key of the URL in the store.
  let key: String

  /// The stored response that matches the request, if there is one.
  let stored: StoredResponse?

  /// Responses of the same URL for other request fields: the origin may name one of them.
  let others: [StoredResponse]

  /// The permission to store the answer, from before the lookup in the store.
  let token: FillToken
  private let name: Fingerprint

  init(
    _ request: HTTPRequest, _ parsed: ParsedRequest, _ key: String, _ stored: StoredResponse?,
    others: [StoredResponse] = [], _ token: FillToken
  ) {
    // Each caller is decoupled from the transfer on its own.
    var request = request
    request.isStreamed = false
    self.request = request
    self.parsed = parsed
    self.key = key
    self.stored = stored
    self.others = others
    self.token = token
    let fields = [request.headers, request.credentials, request.added ?? [:]]
      .flatMap { $0.fields + [("", "")] }
      // With lengths, since a value may contain whatever separates.
      .map { "\($0.name.utf8.count) \($0.name) \($0.value.utf8.count) \($0.value)" }
    name = Fingerprint(of: "\(key) \(fields.joined())")
  }

  static func == (left: OriginRequest, right: OriginRequest) -> Bool { left.name == right.name }
  func hash(into hasher: inout Hasher) { hasher.combine(name) }
  var description: String { request.url.textWithoutSecrets }

  /// The fields that ask about what is stored.
  ///
  /// - Source: RFC 9111 §4.3.1.
  var conditions: [(name: String, value: String)] {
    // A beginning can't be the answer, so a 304 about it would be of no use.
    if let stored { return stored.body.isWhole ? stored.validator.conditions : [] }
    if others.isEmpty { return [] }
    let tags = others.compactMap { $0.parsed.entityTag?.text }
    return [(name: "If-None-Match", value: tags.joined(separator: ", "))]
  }

  /// Returns the stored response that a 304 confirms; nil if it is another version.
  ///
  /// - Source: RFC 9111 §4.3.4.
  func confirmed(by head: HTTPHead) -> StoredResponse? {
    if let stored { return stored.isConfirmed(by: head, isAsked: true) ? stored : nil }
    // Of several, it has to name one.
    guard !head.isRedirected, let tag = EntityTag(of: head.headers) else { return nil }
    return others.first { $0.parsed.entityTag?.isWeaklyEqual(to: tag) == true }
  }
}
