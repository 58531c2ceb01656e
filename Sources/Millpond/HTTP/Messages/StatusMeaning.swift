/// The meaning of a status for what was received of the same resource before, and for what to ask
/// next.
enum StatusMeaning {
  /// Whether the resource no longer exists.
  static func isGone(_ status: Int) -> Bool { status == 404 || status == 410 }

  /// Whether an earlier answer to the same GET must not be used any more: the resource is gone, or
  /// the caller may no longer have it.
  static func endsUse(_ status: Int) -> Bool { isGone(status) || status == 403 || status == 451 }

  /// Whether an answer to a request for the rest of a body, which is not that rest, says nothing
  /// about the whole.
  static func asksForWhole(_ status: Int) -> Bool { status == 206 || status == 416 }

  /// Whether the origin may answer the same request a little later.
  static func isTemporary(_ status: Int) -> Bool {
    [408, 425, 429].contains(status) || admitsStale(status)
  }

  /// Whether a stale response may stand in for the answer.
  ///
  /// - Source: RFC 5861 §4.
  static func admitsStale(_ status: Int) -> Bool { [500, 502, 503, 504].contains(status) }
}
