/// A rule of HTTP caching that decided about a request or a response.
///
/// Its description is a sentence with the section of the standard.
public enum HTTPCacheReason: String, Sendable, Hashable, CaseIterable {
  /// The stored response is fresh.
  case fresh = "it is fresh (RFC 9111 §4.2)"

  /// The stored response is fresh and will not change while it is, so a limit on its age is not
  /// needed.
  case immutable = "it is fresh and immutable (RFC 8246 §2)"

  /// The stored response is stale, and the request accepts that.
  case staleAccepted = "it is stale within the max-stale of the request (RFC 9111 §5.2.1.2)"

  /// The stored response is stale, and may be used while a newer one is requested.
  case staleWhileRevalidate = "it is stale within stale-while-revalidate (RFC 5861 §3)"

  /// The stored response is stale, and may be used because of the origin's error.
  case staleIfError = "it is stale within stale-if-error (RFC 5861 §4)"

  /// The stored response is stale, and may be used because the origin can't be reached.
  case unreachable = "it is stale, and the origin can't be reached (RFC 9111 §4.2.4)"

  /// The condition of the request is false for the stored response.
  case notModified = "the caller has the stored version (RFC 9110 §13.1)"

  /// The origin has confirmed that the stored response is still current.
  case confirmed = "the origin confirmed it with 304 (RFC 9111 §4.3.3)"

  /// No response to this URL is stored.
  case nothingStored = "nothing is stored (RFC 9111 §4)"

  /// The method is not answered from a cache.
  case method = "the method is neither GET nor HEAD (RFC 9111 §4)"

  /// The stored responses belong to requests with other fields that their `Vary` names.
  case otherVariant = "a field that Vary names differs (RFC 9111 §4.1)"

  /// The stored response belongs to a request with other credentials; or it has `private`, and
  /// another field may tell that the caller is another one.
  case otherCredentials = "the credentials differ (RFC 9111 §3.5)"

  /// Only the beginning of the response is stored, since its transfer broke off.
  case incomplete = "only its beginning is stored (RFC 9111 §3.3)"

  /// The request asks the origin.
  case requestNoCache = "the request has no-cache (RFC 9111 §5.2.1.4)"

  /// The origin wants to be asked each time.
  case responseNoCache = "the response has no-cache (RFC 9111 §5.2.2.4)"

  /// The stored response is stale.
  case stale = "it is stale (RFC 9111 §4.2)"

  /// The stored response is stale, and the origin allows no use of it then.
  case mustRevalidate = "it is stale and has must-revalidate (RFC 9111 §5.2.2.2)"

  /// The stored response is older than the request accepts.
  case olderThanAccepted = "it is older than the max-age of the request (RFC 9111 §5.2.1.1)"

  /// The stored response is not fresh for as long as the request needs.
  case notFreshLongEnough = "it is not fresh for the min-fresh of the request (RFC 9111 §5.2.1.3)"

  /// The age of the stored response is unknown.
  case unknownAge = "the clock has stepped back since it was stored (RFC 9111 §4.2.3)"

  /// The request accepts only a stored response, and none fits.
  case onlyIfCached = "the request has only-if-cached (RFC 9111 §5.2.1.7)"

  /// The request has a condition that only the origin can evaluate.
  case originCondition = "the request has If-Match or If-Unmodified-Since (RFC 9111 §4.3.2)"

  /// The condition of the request can't be read.
  case unclearCondition = "the condition of the request is not valid (RFC 9110 §13.1)"

  /// The requested range can't be cut out of the stored response.
  case range = "the range can't be taken from what is stored (RFC 9110 §14.2)"

  /// The origin says for how long the response is fresh.
  case statedFreshness = "the origin states for how long it is fresh (RFC 9111 §4.2.1)"

  /// The status lets a cache estimate for how long the response is fresh.
  case storableStatus = "the status is cacheable by default (RFC 9111 §4.2.2)"

  /// The origin allows storing explicitly.
  case explicitlyStorable = "the response has public or private (RFC 9111 §3)"

  /// The origin forbids storing.
  case responseNoStore = "the response has no-store (RFC 9111 §5.2.2.5)"

  /// The request forbids storing.
  case requestNoStore = "the request has no-store (RFC 9111 §5.2.1.5)"

  /// The response is interim.
  case notFinal = "the response is not final (RFC 9111 §3)"

  /// The response is a part of a body, or only confirms one.
  case notWhole = "the response is not a whole one, or refuses a range (RFC 9111 §3.3)"

  /// The response may be stored only by caches that know its status, and this one does not.
  case unknownStatus = "must-understand, and the status is not known (RFC 9111 §5.2.2.3)"

  /// Nothing in the response allows storing it, or it refuses the credentials of the request.
  case notCacheable = "the status or the lack of a field forbids storing (RFC 9111 §3)"

  /// No later request could select the response.
  case variesOnEverything = "Vary is \"*\" or can't be read (RFC 9111 §4.1)"

  /// The response came from another URL than the requested one.
  case redirected = "it came by a redirect, which has a freshness of its own (RFC 9110 §15.4)"

  /// The body is larger than the cache keeps.
  case tooLarge = "the body is larger than the limit of the cache"
}

extension HTTPCacheReason: CustomStringConvertible {
  /// A sentence with the section of the standard.
  public var description: String { rawValue }
}
