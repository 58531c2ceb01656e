@testable import Millpond

extension CachingRow {
  /// Rows about the storing of responses, and about their use after failures.
  static let storageAndFailures: [CachingRow] = storage + failures

  private static let storage: [CachingRow] = [
    // Statuses
    .storing("9111 §3", 200, "", .store, .storableStatus),
    .storing("9111 §3", 203, "", .store, .storableStatus),
    .storing("9111 §3", 204, "", .store, .storableStatus),
    .storing("9111 §3", 300, "", .store, .storableStatus),
    .storing("9111 §3", 301, "", .store, .storableStatus),
    .storing("9111 §3", 308, "", .store, .storableStatus),
    .storing("9111 §3", 404, "", .store, .storableStatus),
    .storing("9111 §3", 405, "", .store, .storableStatus),
    .storing("9111 §3", 410, "", .store, .storableStatus),
    .storing("9111 §3", 414, "", .store, .storableStatus),
    .storing("9111 §3", 501, "", .store, .storableStatus),
    .storing("9111 §3", 201, "", .pass, .notCacheable),
    .storing("9111 §3", 202, "", .pass, .notCacheable),
    .storing("9111 §3", 302, "", .pass, .notCacheable),
    .storing("9111 §3", 307, "", .pass, .notCacheable),
    .storing("9111 §3", 400, "", .pass, .notCacheable),
    .storing("9111 §3", 403, "", .pass, .notCacheable),
    .storing("9111 §3", 429, "", .pass, .notCacheable),
    .storing("9111 §3", 500, "", .pass, .notCacheable),
    .storing("9111 §3", 502, "", .pass, .notCacheable),
    .storing("9111 §3", 503, "", .pass, .notCacheable),
    .storing("9111 §3", 503, "Retry-After: 5", .pass, .notCacheable),
    .storing("9111 §3", 504, "ETag: \"a\"", .pass, .notCacheable),
    .storing("9111 §3", 302, "max-age=60", .store, .statedFreshness),
    .storing("9111 §3", 302, "Expires: @60", .store, .statedFreshness),
    .storing("9111 §3", 500, "max-age=60", .store, .statedFreshness),
    .storing("9111 §3", 599, "max-age=60", .store, .statedFreshness),
    .storing("9111 §3", 302, "public", .store, .explicitlyStorable),
    .storing("9111 §3", 302, "private", .store, .explicitlyStorable),
    .storing("9111 §3", 302, "private=\"x\"", .store, .explicitlyStorable),
    .storing("9111 §3", 302, "s-maxage=60", .pass, .notCacheable),
    .storing("9111 §3", 100, "max-age=60", .pass, .notFinal),
    .storing("9111 §3", 103, "max-age=60", .pass, .notFinal),
    .storing("9111 §3", 0, "max-age=60", .pass, .notFinal),
    .storing("9111 §3", -200, "max-age=60", .pass, .notFinal),
    .storing("9111 §3", 999, "max-age=60", .pass, .notFinal),
    .storing("9111 §3.3", 206, "max-age=60", .pass, .notWhole),
    .storing("9111 §3.3", 206, "max-age=60 | Content-Range: bytes 0-9/10", .pass, .notWhole),
    .storing("9111 §4.3.3", 304, "max-age=60", .pass, .notWhole),
    .storing("9110 §15.5.17", 416, "max-age=60", "Range: bytes=9-", .pass, .notWhole),
    .storing("9110 §15.5.2", 401, "max-age=60", .pass, .notCacheable),
    .storing("9110 §15.5.2", 401, "public", "Authorization: a", .pass, .notCacheable),
    .storing("9110 §15.5.8", 407, "max-age=60", .pass, .notCacheable),
    // Methods
    .storing("9111 §3", 200, "max-age=60", "", .pass, .method, method: "HEAD"),
    .storing("9111 §3", 200, "max-age=60", "", .pass, .method, method: "POST"),
    .storing("9111 §3", 200, "max-age=60", "", .pass, .method, method: "PUT"),
    .storing("9111 §3", 200, "max-age=60", "", .pass, .method, method: "OPTIONS"),
    .storing("9111 §3", 200, "max-age=60", "", .pass, .method, method: "Get"),
    // no-store
    .storing("9111 §5.2.2.5", 200, "no-store", .pass, .responseNoStore),
    .storing("9111 §5.2.2.5", 200, "No-Store, max-age=60", .pass, .responseNoStore),
    .storing("9111 §5.2.2.5", 200, "max-age=60 | no-store", .pass, .responseNoStore),
    .storing("9111 §5.2.2.5", 200, "no-store=\"x\"", .pass, .responseNoStore),
    .storing("9111 §5.2.2.5", 200, "no-store; max-age=60", .pass, .responseNoStore),
    .storing("9111 §5.2.2.5", 200, "max-age=60; no-store", .pass, .responseNoStore),
    .storing("9111 §5.2.2.5", 200, "max-age=60 no-store", .pass, .responseNoStore),
    .storing("9111 §5.2.2.5", 200, "x=\"y, no-store, max-age=60", .pass, .responseNoStore),
    .storing("9111 §5.2.2.5", 200, "x=\"no-store\", max-age=60", .store, .statedFreshness),
    .storing("9111 §5.2.2.5", 200, "no-stores, max-age=60", .store, .statedFreshness),
    .storing("9111 §5.2.2.4", 200, "no-cache", .store, .storableStatus),
    .storing("9111 §5.2.1.5", 200, "max-age=60", "no-store", .pass, .requestNoStore),
    .storing("9111 §5.2.1.5", 200, "max-age=60", "x | NO-STORE", .pass, .requestNoStore),
    .storing("9111 §5.2.1.5", 200, "max-age=60", "x=\"y", .pass, .requestNoStore),
    .storing("9111 §5.2.1.4", 200, "max-age=60", "no-cache", .store, .statedFreshness),
    // must-understand
    .storing(
      "9111 §5.2.2.3", 200, "must-understand, no-store, max-age=60", .store, .statedFreshness),
    .storing("9111 §5.2.2.3", 404, "must-understand, no-store", .store, .storableStatus),
    .storing("9111 §5.2.2.3", 599, "must-understand, no-store, max-age=60", .pass, .unknownStatus),
    .storing("9111 §5.2.2.3", 599, "must-understand, max-age=60", .pass, .unknownStatus),
    .storing(
      "9111 §5.2.2.3", 200, "must-understand, max-age=60", "no-store", .pass, .requestNoStore),
    // Vary
    .storing("9111 §4.1", 200, "max-age=60 | Vary: *", .pass, .variesOnEverything),
    .storing("9111 §4.1", 200, "max-age=60 | Vary: Foo, *", .pass, .variesOnEverything),
    .storing("9111 §4.1", 200, "max-age=60 | Vary: Foo | Vary: *", .pass, .variesOnEverything),
    .storing("9111 §4.1", 200, "max-age=60 | Vary: Foo Bar", .pass, .variesOnEverything),
    .storing("9111 §4.1", 200, "max-age=60 | Vary: F\u{f6}\u{f6}", .pass, .variesOnEverything),
    .storing("9111 §4.1", 200, "max-age=60 | Vary: Foo, Bar", .store, .statedFreshness),
    .storing("9111 §4.1", 200, "max-age=60 | Vary: ", .store, .statedFreshness),
    .storing("9111 §4.1", 200, "max-age=60 | Vary: ,,", .store, .statedFreshness),
    // Authorization
    .storing("9111 §3.5", 200, "max-age=60", "Authorization: a", .store, .statedFreshness),
    .storing("9111 §3.5", 200, "private", "Authorization: a", .store, .explicitlyStorable),
    // Requests with a condition or a range may still be answered as a whole
    .storing("9111 §3", 200, "max-age=60", "If-None-Match: \"a\"", .store, .statedFreshness),
    .storing("9111 §3", 200, "max-age=60", "Range: bytes=0-9", .store, .statedFreshness),
    .storing("9111 §3", 412, "max-age=60", "If-Match: \"a\"", .store, .statedFreshness),
  ]

  private static let failures: [CachingRow] = [
    .failing("5861 §4", "max-age=9, stale-if-error=30", at: 39, .answer, .staleIfError),
    .failing("5861 §4", "max-age=9, stale-if-error=30", at: 40, .forward, .stale),
    .failing("5861 §4", "max-age=9, stale-if-error=30", at: 39, with: 500, .answer, .staleIfError),
    .failing("5861 §4", "max-age=9, stale-if-error=30", at: 39, with: 502, .answer, .staleIfError),
    .failing("5861 §4", "max-age=9, stale-if-error=30", at: 39, with: 503, .answer, .staleIfError),
    .failing("5861 §4", "max-age=9, stale-if-error=30", at: 39, with: 504, .answer, .staleIfError),
    .failing("5861 §4", "max-age=9, stale-if-error=30", at: 39, with: 501, .forward, .stale),
    .failing("5861 §4", "max-age=9, stale-if-error=30", at: 39, with: 404, .forward, .stale),
    .failing("5861 §4", "max-age=9, stale-if-error=30", at: 39, with: 429, .forward, .stale),
    .failing("5861 §4", "max-age=9", at: 10, .forward, .stale),
    .failing("5861 §4", "max-age=9", at: 10, with: 503, .forward, .stale),
    .failing("5861 §4", "max-age=9", "stale-if-error=30", at: 39, .answer, .staleIfError),
    .failing("5861 §4", "max-age=9", "stale-if-error=30", at: 40, .forward, .stale),
    .failing(
      "5861 §4", "max-age=9, stale-if-error=9", "stale-if-error=30", at: 39, .answer,
      .staleIfError),
    .failing("5861 §4", "max-age=9, stale-if-error=x", at: 10, .forward, .stale),
    .failing("5861 §4", "max-age=9, stale-if-error", at: 10, .forward, .stale),
    .failing("5861 §4", "max-age=9, stale-if-error=1, stale-if-error=9", at: 10, .forward, .stale),
    .failing(
      "5861 §4", "max-age=9, stale-if-error=30", "no-cache", at: 10, .forward, .requestNoCache),
    .failing("5861 §4", "stale-if-error=30, no-cache", at: 10, .forward, .responseNoCache),
    .failing(
      "5861 §4", "max-age=9, stale-if-error=30", "max-age=20", at: 21, .forward,
      .olderThanAccepted),
    .failing("5861 §4", "max-age=9, stale-if-error=30", at: -99, .forward, .unknownAge),
    .failing(
      "9111 §5.2.2.2", "max-age=9, stale-if-error=30, must-revalidate", at: 10, .forward,
      .mustRevalidate),
    .failing(
      "9111 §5.2.2.2", "max-age=9, must-revalidate", "stale-if-error=30", at: 10, with: 503,
      .forward, .mustRevalidate),
  ]
}
