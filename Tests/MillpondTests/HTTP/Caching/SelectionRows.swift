@testable import Millpond

extension CachingRow {
  /// Rows about methods, variants, credentials, conditions and ranges.
  static let selection: [CachingRow] = [
    // Methods
    .reuse("9111 §4", nil, .forward, .nothingStored),
    .reuse("9111 §4", nil, .forward, .nothingStored, method: "HEAD"),
    .reuse("9111 §4", "max-age=60", .answer, .fresh, method: "HEAD"),
    .reuse("9111 §4", "max-age=60 | ETag: \"a\"", at: 60, .forward, .stale, method: "HEAD"),
    .reuse("9111 §4", "max-age=60", .forward, .method, method: "POST"),
    .reuse("9111 §4", "max-age=60", .forward, .method, method: "PUT"),
    .reuse("9111 §4", "max-age=60", .forward, .method, method: "DELETE"),
    .reuse("9111 §4", "max-age=60", .forward, .method, method: "PATCH"),
    .reuse("9111 §4", "max-age=60", .forward, .method, method: "OPTIONS"),
    .reuse("9111 §4", "max-age=60", .forward, .method, method: "TRACE"),
    .reuse("9110 §9.1", "max-age=60", .forward, .method, method: "get"),
    .reuse("9110 §9.1", "max-age=60", .forward, .method, method: ""),
    .reuse("9110 §9.1", "max-age=60", .forward, .method, method: "GET "),
    // Variants
    .reuse(
      "9111 §4.1", "max-age=60 | Vary: Foo", "Foo: 1", .answer, .fresh, first: "Foo: 1"),
    .reuse(
      "9111 §4.1", "max-age=60 | Vary: Foo", "Foo: 2", .forward, .otherVariant, first: "Foo: 1"),
    .reuse("9111 §4.1", "max-age=60 | Vary: Foo", "", .forward, .otherVariant, first: "Foo: 1"),
    .reuse("9111 §4.1", "max-age=60 | Vary: Foo", "Foo: 1", .forward, .otherVariant),
    .reuse("9111 §4.1", "max-age=60 | Vary: Foo", "", .answer, .fresh),
    .reuse("9111 §4.1", "max-age=60 | Vary: Foo", "Bar: 2", .answer, .fresh, first: "Bar: 1"),
    .reuse(
      "9111 §4.1", "max-age=60 | Vary: FOO", "fOO: 1", .answer, .fresh, first: "Foo: 1"),
    .reuse(
      "9111 §4.1", "max-age=60 | Vary: Foo, Bar", "Foo: 1 | Bar: 2", .answer, .fresh,
      first: "Bar: 2 | Foo: 1"),
    .reuse(
      "9111 §4.1", "max-age=60 | Vary: Foo, Bar", "Foo: 1 | Bar: 3", .forward, .otherVariant,
      first: "Foo: 1 | Bar: 2"),
    .reuse(
      "9111 §4.1", "max-age=60 | Vary: Foo | Vary: Bar", "Foo: 1 | Bar: 3", .forward,
      .otherVariant, first: "Foo: 1 | Bar: 2"),
    .reuse(
      "9111 §4.1", "max-age=60 | Vary: Foo, Bar", "Foo: 2 | Bar: 1", .forward, .otherVariant,
      first: "Foo: 1 | Bar: 2"),
    .reuse(
      "9111 §4.1", "max-age=60 | Vary: Foo,, Foo", "Foo: 1", .answer, .fresh, first: "Foo: 1"),
    .reuse(
      "9111 §4.1", "max-age=60 | Vary: Foo", "Foo: 1,2", .answer, .fresh, first: "Foo: 1, 2"),
    .reuse(
      "9111 §4.1", "max-age=60 | Vary: Foo", "Foo: 1 | Foo: 2", .answer, .fresh,
      first: "Foo: 1 , 2"),
    .reuse(
      "9111 §4.1", "max-age=60 | Vary: Foo", "Foo: 2, 1", .forward, .otherVariant,
      first: "Foo: 1, 2"),
    .reuse(
      "9111 §4.1", "max-age=60 | Vary: Foo", "Foo: A", .forward, .otherVariant, first: "Foo: a"),
    .reuse(
      "9111 §4.1", "max-age=60 | Vary: Foo", "Foo: \"a,b\"", .forward, .otherVariant,
      first: "Foo: \"a, b\""),
    .reuse(
      "9111 §4.1", "max-age=60 | Vary: Foo, Bar", "Bar: 1 | Foo: 2foo:3", .forward, .otherVariant,
      first: "Bar: 1foo:2 | Foo: 3"),
    .reuse("9111 §4.1", "max-age=60 | Vary: Foo", "Foo: ", .forward, .otherVariant),
    .reuse(
      "9111 §4.1", "max-age=60 | Vary: Foo, Bar", "Foo: 1\nbar:2", .forward, .otherVariant,
      first: "Foo: 1 | Bar: 2"),
    .reuse(
      "9111 §4.1", "max-age=60 | ETag: \"a\" | Vary: Foo", "Foo: 2", .forward, .otherVariant,
      first: "Foo: 1"),
    .reuse(
      "9111 §4.1", "max-age=60 | Vary: Foo", "Foo: 2 | only-if-cached", .refuse, .onlyIfCached,
      first: "Foo: 1"),
    .reuse(
      "9111 §4.1", "max-age=60 | Vary: Accept-Encoding", "Accept-Encoding: br", .forward,
      .otherVariant, first: "Accept-Encoding: gzip"),
    .reuse(
      "9111 §4.1", "max-age=60 | Vary: Accept-Language", "Accept-Language: de", .forward,
      .otherVariant, first: "Accept-Language: en"),
    // Credentials
    .reuse(
      "9111 §3.5", "max-age=60 | Vary: Cookie", "Cookie: b=2", .forward, .otherCredentials,
      first: "Cookie: a=1"),
    .reuse(
      "9111 §3.5", "max-age=60", "Authorization: Basic b", .forward, .otherCredentials,
      first: "Authorization: Basic a"),
    .reuse(
      "9111 §3.5", "max-age=60", "Authorization: Basic a", .answer, .fresh,
      first: "Authorization: Basic a"),
    .reuse(
      "9111 §3.5", "max-age=60", "", .forward, .otherCredentials, first: "Authorization: Basic a"),
    .reuse("9111 §3.5", "max-age=60", "Authorization: Basic a", .forward, .otherCredentials),
    .reuse(
      "9111 §3.5", "public, max-age=60", "Authorization: Basic a", .forward, .otherCredentials),
    .reuse(
      "9111 §3.5", "max-age=60", "authorization: Basic a", .answer, .fresh,
      first: "Authorization: Basic a"),
    .reuse(
      "9111 §3.5", "max-age=60", "Authorization: basic A", .forward, .otherCredentials,
      first: "Authorization: Basic a"),
    // Conditions of the caller
    .reuse(
      "9110 §13.1.2", "max-age=60 | ETag: \"a\"", "If-None-Match: \"a\"", .answerNotModified,
      .notModified),
    .reuse(
      "9110 §13.1.2", "max-age=60 | ETag: \"a\"", "If-None-Match: W/\"a\"", .answerNotModified,
      .notModified),
    .reuse(
      "9110 §13.1.2", "max-age=60 | ETag: W/\"a\"", "If-None-Match: \"a\"", .answerNotModified,
      .notModified),
    .reuse("9110 §13.1.2", "max-age=60 | ETag: \"a\"", "If-None-Match: \"b\"", .answer, .fresh),
    .reuse("9110 §13.1.2", "max-age=60 | ETag: \"a\"", "If-None-Match: \"A\"", .answer, .fresh),
    .reuse(
      "9110 §13.1.2", "max-age=60 | ETag: \"a\"", "If-None-Match: \"b\", \"a\"",
      .answerNotModified, .notModified),
    .reuse(
      "9110 §13.1.2", "max-age=60 | ETag: \"a\"", "If-None-Match: \"b\" | If-None-Match: \"a\"",
      .answerNotModified, .notModified),
    .reuse(
      "9110 §13.1.2", "max-age=60 | ETag: \"a,b\"", "If-None-Match: \"x\",\"a,b\"",
      .answerNotModified, .notModified),
    .reuse(
      "9110 §13.1.2", "max-age=60 | ETag: \"a\"", "If-None-Match: *", .answerNotModified,
      .notModified),
    .reuse("9110 §13.1.2", "max-age=60", "If-None-Match: *", .answerNotModified, .notModified),
    .reuse("9110 §13.1.2", "max-age=60", "If-None-Match: \"a\"", .answer, .fresh),
    .reuse(
      "9110 §13.1.2", "max-age=60 | ETag: \"a\"", "If-None-Match: a", .forward, .unclearCondition),
    .reuse(
      "9110 §13.1.2", "max-age=60 | ETag: \"a\"", "If-None-Match: ", .forward, .unclearCondition),
    .reuse(
      "9110 §13.1.2", "max-age=60 | ETag: \"a\"", "If-None-Match: \"a", .forward,
      .unclearCondition),
    .reuse(
      "9110 §13.1.2", "max-age=60 | ETag: \"a\"", "If-None-Match: \"a\"", at: 60, .forward, .stale),
    .reuse(
      "9110 §13.2.2", "max-age=60 | ETag: \"a\" | Last-Modified: @-9",
      "If-None-Match: \"b\" | If-Modified-Since: @-9", .answer, .fresh),
    .reuse(
      "9110 §13.1.3", "max-age=60 | Last-Modified: @-9", "If-Modified-Since: @-9",
      .answerNotModified, .notModified),
    .reuse(
      "9110 §13.1.3", "max-age=60 | Last-Modified: @-9", "If-Modified-Since: @-8",
      .answerNotModified, .notModified),
    .reuse(
      "9110 §13.1.3", "max-age=60 | Last-Modified: @-9", "If-Modified-Since: @-10", .answer,
      .fresh),
    .reuse(
      "9111 §4.3.2", "max-age=60", "If-Modified-Since: @0", .answerNotModified, .notModified),
    .reuse("9111 §4.3.2", "max-age=60", "If-Modified-Since: @-1", .answer, .fresh),
    .reuse(
      "9110 §13.1.3", "max-age=60", "If-Modified-Since: today", .forward, .unclearCondition),
    .reuse(
      "9110 §13.1.3", "max-age=60", "If-Modified-Since: @-1 | If-Modified-Since: @0", .forward,
      .unclearCondition),
    .reuse(
      "9111 §4.3.2", "max-age=60 | ETag: \"a\"", "If-None-Match: \"a\"", .forward,
      .unclearCondition, status: 404),
    .reuse("9111 §4.3.2", "max-age=60", "If-Match: \"a\"", .forward, .originCondition),
    .reuse("9111 §4.3.2", "max-age=60", "If-Unmodified-Since: @0", .forward, .originCondition),
    .reuse(
      "9111 §4.3.2", "max-age=60", "If-Match: \"a\" | only-if-cached", .refuse, .onlyIfCached),
    // Ranges
    .reuse("9110 §14.2", "max-age=60", "Range: bytes=0-9", .answer, .fresh),
    .reuse("9110 §14.2", "max-age=60", "Range: bytes=990-", .answer, .fresh),
    .reuse("9110 §14.2", "max-age=60", "Range: bytes=-9", .answer, .fresh),
    .reuse("9110 §14.2", "max-age=60", "Range: Bytes=0-9", .answer, .fresh),
    .reuse("9110 §14.2", "max-age=60", "Range: bytes=1000-", .answer, .fresh),
    .reuse("9110 §14.2", "max-age=60", "Range: bytes=0-0,-1", .forward, .range),
    .reuse("9110 §14.2", "max-age=60", "Range: lines=0-9", .forward, .range),
    .reuse("9110 §14.2", "max-age=60", "Range: bytes=9-0", .forward, .range),
    .reuse("9110 §14.2", "max-age=60", "Range: bytes=", .forward, .range),
    .reuse("9110 §14.2", "max-age=60", "Range: bytes=-", .forward, .range),
    .reuse("9110 §14.2", "max-age=60", "Range: bytes=0-99999999999999999999", .forward, .range),
    .reuse("9110 §14.2", "max-age=60", "Range: bytes=0-1 | Range: bytes=2-3", .forward, .range),
    .reuse("9110 §14.2", "max-age=60", "Range: bytes=0-9", at: 60, .forward, .stale),
    .reuse(
      "9110 §13.2.2", "max-age=60 | ETag: \"a\"", "Range: bytes=0-9", at: 60, .validate, .stale),
    .reuse(
      "9110 §13.2.2", "max-age=60 | ETag: \"a\"", "Range: bytes=0-9 | no-cache", .validate,
      .requestNoCache),
    .reuse(
      "9110 §13.1.5", "max-age=60 | ETag: \"a\"", "Range: bytes=0-9 | If-Range: \"b\"", at: 60,
      .validate, .stale),
    .reuse(
      "9110 §14.2", "max-age=60 | ETag: \"a\"", "Range: bytes=0-0,-1", at: 60, .forward, .stale),
    .reuse(
      "9110 §14.2", "max-age=60 | ETag: \"a\"", "Range: bytes=0-9 | If-None-Match: \"b\"", at: 60,
      .forward, .stale),
    .reuse(
      "9110 §14.2", "max-age=60 | Content-Encoding: gzip", "Range: bytes=0-9", .forward, .range),
    .reuse("9110 §14.2", "max-age=60", "Range: bytes=0-9", .forward, .range, status: 404),
    .reuse("9110 §14.2", "max-age=60", "Range: bytes=0-9", .answer, .fresh, method: "HEAD"),
    .reuse(
      "9110 §13.1.5", "max-age=60 | ETag: \"a\"", "Range: bytes=0-9 | If-Range: \"a\"", .answer,
      .fresh),
    .reuse(
      "9110 §13.1.5", "max-age=60 | ETag: \"a\"", "Range: bytes=0-9 | If-Range: nonsense",
      .forward, .range),
    .reuse(
      "9111 §3.3", "max-age=60", "Range: bytes=0-0,-1 | only-if-cached", .refuse, .onlyIfCached),
  ]
}
