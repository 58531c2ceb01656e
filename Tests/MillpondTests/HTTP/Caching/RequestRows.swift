@testable import Millpond

extension CachingRow {
  /// Rows about the directives of requests and those that forbid reuse.
  static let directives: [CachingRow] = [
    // no-cache of the request
    .reuse("9111 §5.2.1.4", "max-age=60", "no-cache", .forward, .requestNoCache),
    .reuse("9111 §5.2.1.4", "max-age=60 | ETag: \"a\"", "no-cache", .validate, .requestNoCache),
    .reuse("9111 §5.2.1.4", "max-age=60", "No-Cache", .forward, .requestNoCache),
    .reuse("9111 §5.2.1.4", "max-age=60", "foo, no-cache", .forward, .requestNoCache),
    .reuse("9111 §5.2.1.4", "max-age=60", "foo | no-cache", .forward, .requestNoCache),
    .reuse("9111 §5.2.1.4", "max-age=60", "no-cache=\"x\"", .forward, .requestNoCache),
    .reuse("9111 §5.2.1.4", "max-age=60", "foo=\"no-cache\"", .answer, .fresh),
    .reuse("9111 §5.2.1.4", "max-age=60, immutable", "no-cache", .forward, .requestNoCache),
    .reuse("9111 §5.2.1.4", "max-age=60", "x=\"y", .forward, .requestNoCache),
    .reuse("9111 §5.4", "max-age=60", "Pragma: no-cache", .forward, .requestNoCache),
    .reuse("9111 §5.4", "max-age=60", "Pragma: x, No-Cache", .forward, .requestNoCache),
    .reuse("9111 §5.4", "max-age=60", "Pragma: x", .answer, .fresh),
    .reuse("9111 §5.4", "max-age=60", "max-age=9 | Pragma: no-cache", .answer, .fresh),
    .reuse("9111 §5.4", "max-age=60 | Pragma: no-cache", "", .answer, .fresh),
    // no-store of the request says nothing about what is stored
    .reuse("9111 §5.2.1.5", "max-age=60", "no-store", .answer, .fresh),
    .reuse("9111 §5.2.1.6", "max-age=60", "no-transform", .answer, .fresh),
    // max-age of the request
    .reuse("9111 §5.2.1.1", "max-age=60", "max-age=30", at: 30, .answer, .fresh),
    .reuse("9111 §5.2.1.1", "max-age=60", "max-age=30", at: 31, .forward, .olderThanAccepted),
    .reuse("9111 §5.2.1.1", "max-age=60", "max-age=0", at: 0, .answer, .fresh),
    .reuse("9111 §5.2.1.1", "max-age=60", "max-age=0", at: 1, .forward, .olderThanAccepted),
    .reuse("9111 §5.2.1.1", "max-age=60", "max-age=90", at: 60, .forward, .stale),
    .reuse("9111 §5.2.1.1", "max-age=60", "max-age=\"30\"", at: 31, .forward, .olderThanAccepted),
    .reuse("9111 §5.2.1.1", "max-age=60", "max-age=x", at: 1, .forward, .olderThanAccepted),
    .reuse("9111 §5.2.1.1", "max-age=60", "max-age", at: 1, .forward, .olderThanAccepted),
    .reuse("9111 §5.2.1.1", "max-age=60", "max-age=-1", at: 1, .forward, .olderThanAccepted),
    .reuse(
      "9111 §5.2.1.1", "max-age=60", "max-age=9, max-age=30", at: 1, .forward, .olderThanAccepted),
    .reuse("9111 §5.2.1.1", "max-age=60", "max-age=99999999999999999999", at: 59, .answer, .fresh),
    .reuse("9111 §5.2.1.1", "max-age=60 | Age: 31", "max-age=30", .forward, .olderThanAccepted),
    .reuse(
      "9111 §5.2.1.1", "max-age=60", "max-age=70, max-stale=99", at: 69, .answer, .staleAccepted),
    .reuse(
      "9111 §5.2.1.1", "max-age=60", "max-age=70, max-stale=99", at: 71, .forward,
      .olderThanAccepted),
    // min-fresh
    .reuse("9111 §5.2.1.3", "max-age=60", "min-fresh=30", at: 30, .answer, .fresh),
    .reuse("9111 §5.2.1.3", "max-age=60", "min-fresh=30", at: 31, .forward, .notFreshLongEnough),
    .reuse("9111 §5.2.1.3", "max-age=60", "min-fresh=0", at: 59, .answer, .fresh),
    .reuse("9111 §5.2.1.3", "max-age=60", "min-fresh=61", at: 0, .forward, .notFreshLongEnough),
    .reuse("9111 §5.2.1.3", "max-age=60", "min-fresh=x", at: 0, .forward, .notFreshLongEnough),
    .reuse("9111 §5.2.1.3", "max-age=60", "min-fresh", at: 0, .forward, .notFreshLongEnough),
    .reuse(
      "9111 §5.2.1.3", "max-age=60", "min-fresh=1, min-fresh=2", .forward, .notFreshLongEnough),
    .reuse(
      "9111 §5.2.1.3", "max-age=60, immutable", "min-fresh=61", .forward, .notFreshLongEnough),
    .reuse(
      "9111 §5.2.1.3", "max-age=60", "min-fresh=0, max-stale", at: 60, .forward,
      .notFreshLongEnough),
    // max-stale
    .reuse("9111 §5.2.1.2", "max-age=60", "max-stale", at: 9_999, .answer, .staleAccepted),
    .reuse("9111 §5.2.1.2", "max-age=60", "max-stale=30", at: 90, .answer, .staleAccepted),
    .reuse("9111 §5.2.1.2", "max-age=60", "max-stale=30", at: 91, .forward, .stale),
    .reuse("9111 §5.2.1.2", "max-age=60", "max-stale=30", at: 59, .answer, .fresh),
    .reuse("9111 §5.2.1.2", "max-age=60", "max-stale=x", at: 61, .forward, .stale),
    .reuse("9111 §5.2.1.2", "max-age=60", "max-stale=", at: 61, .forward, .stale),
    .reuse("9111 §5.2.1.2", "max-age=60", "max-stale=-1", at: 61, .forward, .stale),
    .reuse("9111 §5.2.1.2", "max-age=60", "max-stale=9, max-stale=99", at: 61, .forward, .stale),
    .reuse("9111 §5.2.1.2", "max-age=60", "max-stale=\"30\"", at: 90, .answer, .staleAccepted),
    .reuse("9111 §5.2.1.2", "Expires: 0", "max-stale=9", at: 9, .answer, .staleAccepted),
    .reuse("9111 §5.2.1.2", "max-age=x", "max-stale=9", at: 9, .answer, .staleAccepted),
    .reuse("9111 §5.2.1.2", "", "max-stale=9", at: 9, .answer, .staleAccepted),
    // must-revalidate
    .reuse("9111 §5.2.2.2", "max-age=60, must-revalidate", at: 59, .answer, .fresh),
    .reuse("9111 §5.2.2.2", "max-age=60, must-revalidate", at: 60, .forward, .mustRevalidate),
    .reuse(
      "9111 §5.2.2.2", "max-age=60, Must-Revalidate", "max-stale", at: 60, .forward,
      .mustRevalidate),
    .reuse(
      "9111 §5.2.2.2", "max-age=60, must-revalidate=1", "max-stale", at: 60, .forward,
      .mustRevalidate),
    .reuse(
      "9111 §5.2.2.2", "max-age=60, must-revalidate | ETag: \"a\"", at: 60, .validate,
      .mustRevalidate),
    .reuse(
      "9111 §5.2.2.2", "max-age=60, must-revalidate, stale-while-revalidate=60", at: 61, .forward,
      .mustRevalidate),
    // no-cache of the response
    .reuse("9111 §5.2.2.4", "max-age=60, no-cache", .forward, .responseNoCache),
    .reuse("9111 §5.2.2.4", "no-cache | max-age=60 | ETag: \"a\"", .validate, .responseNoCache),
    .reuse("9111 §5.2.2.4", "max-age=60, NO-CACHE", .forward, .responseNoCache),
    .reuse("9111 §5.2.2.4", "max-age=60, no-cache", "max-stale", .forward, .responseNoCache),
    .reuse("9111 §5.2.2.4", "max-age=60, no-cache=\"Set-Cookie\"", .forward, .responseNoCache),
    .reuse("9111 §5.2.2.4", "max-age=60, no-cache=x", .forward, .responseNoCache),
    .reuse("9111 §5.2.2.4", "max-age=60, foo=\"no-cache\"", .answer, .fresh),
    .reuse("9111 §5.2.2.4", "max-age=60, no-cache-x", .answer, .fresh),
    .reuse("9111 §5.2.2.4", "max-age=60, no-cache; x", .forward, .responseNoCache),
    .reuse("9111 §5.2.2.4", "max-age=60, immutable, no-cache", .forward, .responseNoCache),
    // immutable
    .reuse("8246 §2", "max-age=60, immutable", at: 59, .answer, .immutable),
    .reuse("8246 §2", "max-age=60, immutable", "max-age=0", at: 59, .answer, .immutable),
    .reuse("8246 §2", "max-age=60, immutable=\"x\"", "max-age=0", at: 59, .answer, .immutable),
    .reuse("8246 §2", "max-age=60, immutable | ETag: \"a\"", at: 60, .validate, .stale),
    .reuse("8246 §2", "immutable | ETag: \"a\"", at: 0, .validate, .stale),
    .reuse("8246 §2", "Expires: @60 | immutable", "max-age=0", at: 59, .answer, .immutable),
    // stale-while-revalidate
    .reuse(
      "5861 §3", "max-age=60, stale-while-revalidate=30", at: 60, .answerAndRefresh,
      .staleWhileRevalidate),
    .reuse(
      "5861 §3", "max-age=60, stale-while-revalidate=30", at: 90, .answerAndRefresh,
      .staleWhileRevalidate),
    .reuse("5861 §3", "max-age=60, stale-while-revalidate=30", at: 59, .answer, .fresh),
    .reuse("5861 §3", "max-age=60, stale-while-revalidate=30", at: 91, .forward, .stale),
    .reuse("5861 §3", "max-age=60, stale-while-revalidate=0", at: 60, .forward, .stale),
    .reuse("5861 §3", "max-age=60, stale-while-revalidate", at: 60, .forward, .stale),
    .reuse("5861 §3", "max-age=60, stale-while-revalidate=x", at: 60, .forward, .stale),
    .reuse(
      "5861 §3", "max-age=60, stale-while-revalidate=9, stale-while-revalidate=99", at: 60,
      .forward, .stale),
    .reuse(
      "5861 §3", "max-age=60, stale-while-revalidate=30", "max-age=90", at: 61, .forward, .stale),
    .reuse(
      "5861 §3", "max-age=60, stale-while-revalidate=30", "max-stale=9", at: 80, .forward, .stale),
    .reuse(
      "5861 §3", "max-age=60, stale-while-revalidate=30", "no-cache", at: 61, .forward,
      .requestNoCache),
    .reuse(
      "5861 §3", "max-age=60, stale-while-revalidate=30, no-cache", at: 61, .forward,
      .responseNoCache),
    .reuse(
      "9111 §5.2.1.7", "max-age=60, stale-while-revalidate=30", "only-if-cached", at: 61, .answer,
      .staleWhileRevalidate),
    // only-if-cached
    .reuse("9111 §5.2.1.7", nil, "only-if-cached", .refuse, .onlyIfCached),
    .reuse("9111 §5.2.1.7", "max-age=60", "only-if-cached", at: 59, .answer, .fresh),
    .reuse("9111 §5.2.1.7", "max-age=60", "only-if-cached", at: 60, .refuse, .onlyIfCached),
    .reuse("9111 §5.2.1.7", "max-age=60", "ONLY-IF-CACHED", at: 60, .refuse, .onlyIfCached),
    .reuse("9111 §5.2.1.7", "no-cache", "only-if-cached", .refuse, .onlyIfCached),
    .reuse("9111 §5.2.1.7", "max-age=60", "only-if-cached, no-cache", .refuse, .onlyIfCached),
    .reuse(
      "9111 §5.2.1.7", "max-age=60 | ETag: \"a\"", "only-if-cached", at: 60, .refuse,
      .onlyIfCached),
    .reuse(
      "9111 §5.2.1.7", "max-age=60", "only-if-cached, max-stale", at: 99, .answer, .staleAccepted),
    .reuse("9111 §5.2.1.7", nil, "foo=\"only-if-cached\"", .forward, .nothingStored),
  ]
}
