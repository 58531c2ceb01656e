@testable import Millpond

extension CachingRow {
  /// Rows about a response of which only the beginning is stored.
  static let incomplete: [CachingRow] = [
    // The rest is requested, whatever its age: If-Range tells whether the version is the same.
    .completing("9111 §3.3", "max-age=60 | ETag: \"a\"", .complete, .incomplete),
    .completing("9111 §3.3", "max-age=60 | ETag: \"a\"", at: 90, .complete, .incomplete),
    .completing("9111 §3.3", "no-cache | ETag: \"a\"", .complete, .incomplete),
    .completing("9111 §3.3", "max-age=60, immutable | ETag: \"a\"", .complete, .incomplete),
    .completing(
      "9111 §3.3", "max-age=60, stale-while-revalidate=60 | ETag: \"a\"", at: 90, .complete,
      .incomplete),
    .completing(
      "9111 §3.4", "max-age=60 | ETag: \"a\" | Content-Length: 2000", .complete, .incomplete),
    .completing("9111 §3.3", "max-age=60 | ETag: \"a\"", "no-cache", .complete, .incomplete),
    .completing(
      "9111 §3.3", "max-age=60 | ETag: \"a\"", "max-stale", at: 99, .complete, .incomplete),
    .completing("9111 §3.3", "max-age=60 | ETag: \"a\"", "min-fresh=99", .complete, .incomplete),
    // A date is strong if the response is a minute younger, and the length is known.
    .completing(
      "9110 §8.8.2.2", "max-age=60 | Last-Modified: @-60 | Content-Length: 2000", .complete,
      .incomplete),
    .completing(
      "9110 §8.8.2.2", "max-age=60 | Last-Modified: @-59 | Content-Length: 2000", .forward,
      .incomplete),
    .completing("9110 §8.8.2.2", "max-age=60 | Last-Modified: @-60", .forward, .incomplete),
    // Without a strong validator nothing can be combined.
    .completing("9111 §3.4", "max-age=60", .forward, .incomplete),
    .completing("9111 §3.4", "max-age=60 | ETag: W/\"a\"", .forward, .incomplete),
    .completing("9111 §3.4", "max-age=60 | ETag: a", .forward, .incomplete),
    .completing("9111 §3.4", "max-age=60 | ETag: \"a\" | ETag: \"b\"", .forward, .incomplete),
    .completing(
      "9111 §3.4", "max-age=60 | ETag: W/\"a\" | Last-Modified: @-99 | Content-Length: 2000",
      .forward, .incomplete),
    // The bytes of an encoded body are not those that ranges count.
    .completing(
      "9110 §14.2", "max-age=60 | ETag: \"a\" | Content-Encoding: gzip", .forward, .incomplete),
    .completing(
      "9110 §14.2", "max-age=60 | ETag: \"a\" | Content-Encoding: identity", .complete,
      .incomplete),
    .completing(
      "9110 §14.3", "max-age=60 | ETag: \"a\" | Accept-Ranges: none", .forward, .incomplete),
    .completing(
      "9110 §14.3", "max-age=60 | ETag: \"a\" | Accept-Ranges: bytes", .complete, .incomplete),
    .completing("9111 §3.3", "max-age=60 | ETag: \"a\"", .forward, .incomplete, status: 404),
    // It is no answer: to a method, a condition or a range neither.
    .completing(
      "9111 §3.3", "max-age=60 | ETag: \"a\"", .forward, .incomplete, method: "HEAD"),
    .completing("9111 §3.3", "max-age=60 | ETag: \"a\"", .forward, .method, method: "POST"),
    .completing(
      "9111 §3.3", "max-age=60 | ETag: \"a\"", "Range: bytes=0-9", .forward, .incomplete),
    .completing(
      "9111 §3.3", "max-age=60 | ETag: \"a\"", "If-None-Match: \"a\"", .forward, .incomplete),
    .completing(
      "9111 §3.3", "max-age=60 | ETag: \"a\"", "If-Match: \"a\"", .forward, .originCondition),
    .completing(
      "9111 §5.2.1.7", "max-age=60 | ETag: \"a\"", "only-if-cached", .refuse, .onlyIfCached),
    // It belongs to its fields and credentials as a whole one does.
    .completing(
      "9111 §4.1", "max-age=60 | ETag: \"a\" | Vary: X", "X: 2", .forward, .otherVariant,
      first: "X: 1"),
    .completing(
      "9111 §4.1", "max-age=60 | ETag: \"a\" | Vary: X", "X: 1", .complete, .incomplete,
      first: "X: 1"),
    .completing(
      "9111 §3.5", "max-age=60 | ETag: \"a\"", "Authorization: b", .forward, .otherCredentials,
      first: "Authorization: a"),
  ]
}
