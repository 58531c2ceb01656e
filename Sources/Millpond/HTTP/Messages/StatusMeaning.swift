/// The meaning of a status for what was received of the same resource before.
enum StatusMeaning {
  /// Whether the resource no longer exists.
  static func isGone(_ status: Int) -> Bool { status == 404 || status == 410 }

  /// Whether an earlier answer to the same GET must not be used any more: the resource is gone, or
  /// the caller may no longer have it.
  static func endsUse(_ status: Int) -> Bool { isGone(status) || status == 403 || status == 451 }
}
