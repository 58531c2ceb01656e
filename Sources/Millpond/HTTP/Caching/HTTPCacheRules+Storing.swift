import Foundation

extension HTTPCacheRules {
  /// Returns the decision whether the response to a request may be stored: `store` or `pass`.
  ///
  /// A body that ends early, or is larger than the cache keeps, is not stored either.
  ///
  /// - Parameters:
  ///   - head: The head of the response.
  ///   - request: The request.
  public func storage(of head: HTTPHead, for request: HTTPRequest) -> HTTPCacheDecision {
    storage(of: head, for: ParsedRequest(request))
  }

  func storage(of head: HTTPHead, for request: ParsedRequest) -> HTTPCacheDecision {
    let parsed = ParsedResponse(status: head.status, headers: head.headers)
    if let reason = obstacle(head, parsed, request) { return .init(.pass, reason) }
    if parsed.statesFreshness { return .init(.store, .statedFreshness) }
    // RFC 9111 §3: private is as good as public for a private cache.
    if parsed.directives.has(.isPublic) || parsed.directives.has(.isPrivate) {
      return .init(.store, .explicitlyStorable)
    }
    if parsed.mayBeEstimated { return .init(.store, .storableStatus) }
    return .init(.pass, .notCacheable)
  }

  /// Whether callers that wait for one answer may all have it: not if it is for one of them only,
  /// whatever else keeps it from being stored.
  func admitsSharing(of head: HTTPHead, for request: ParsedRequest) -> Bool {
    ParsedResponse(status: head.status, headers: head.headers).prohibition == nil
      && VariantKey(of: head.headers, to: request) != nil
  }

  private func obstacle(
    _ head: HTTPHead, _ parsed: ParsedResponse, _ request: ParsedRequest
  ) -> HTTPCacheReason? {
    // HEAD has no body to store; another answer to POST could be stored, but helps GET only.
    if request.method != "GET" { return .method }
    if !(200...599).contains(head.status) { return .notFinal }
    if [206, 304, 416].contains(head.status) { return .notWhole }
    if request.directives.has(.noStore) { return .requestNoStore }
    if let prohibition = parsed.prohibition { return prohibition }
    if head.isRedirected { return .redirected }
    if VariantKey(of: head.headers, to: request) == nil { return .variesOnEverything }
    // A refusal is about these credentials; the next ones may be those of the same account.
    if head.status == 401 || head.status == 407 { return .notCacheable }
    return nil
  }

  /// Returns the URLs whose stored responses an answer makes invalid.
  ///
  /// These are the URL of a request that changed something, and those of the same origin that the
  /// answer names; after a redirect, only the URL of the request.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - url: Its URL.
  ///   - head: The head of the answer.
  /// - Source: RFC 9111 §4.4.
  func invalidated(by request: ParsedRequest, _ url: URL, _ head: HTTPHead) -> [URL] {
    if HTTPMethod(request.method).isSafe { return [] }
    // The redirect was no error, whatever came after it; and the fields are about another URL.
    if head.isRedirected { return [url] }
    if !(200..<400).contains(head.status) { return [] }
    let named = ["Location", "Content-Location"].flatMap { head.headers.values(of: $0) }
      .compactMap { URL(string: $0, relativeTo: url)?.absoluteURL }
      .filter { $0.isWebAddress && $0.isOfSameOrigin(as: url) }
    return [url] + named
  }
}
