/// The fields of a request by which an origin may know who sends it.
enum CallerFields {
  /// Whether a field of this name authenticates its sender, for every origin.
  ///
  /// No other origin receives it, and no other sender an answer that is stored for it.
  static func authenticates(_ name: String) -> Bool {
    switch name.utf8.count {
    case 6: name.isSameField(as: "Cookie")
    case 13: name.isSameField(as: "Authorization")
    case 19: name.isSameField(as: "Proxy-Authorization")
    default: false
    }
  }

  /// Whether an origin may know the sender by a field of this name, such as `X-Api-Key`: by every
  /// field but those whose meaning is another.
  static func mayTell(_ name: String) -> Bool {
    let name = name.lowercased()
    return !neutral.contains(name) && !name.hasPrefix("if-") && !name.hasPrefix("sec-fetch-")
      && !name.hasPrefix("sec-ch-")
  }

  private static let neutral: Set<String> = [
    "accept", "accept-charset", "accept-encoding", "accept-language", "baggage", "cache-control",
    "connection", "content-length", "content-type", "date", "dnt", "expect", "host", "keep-alive",
    "origin", "pragma", "prefer", "priority", "purpose", "range", "referer", "save-data", "te",
    "traceparent", "tracestate", "upgrade", "upgrade-insecure-requests", "user-agent", "via",
    "x-correlation-id", "x-request-id", "x-requested-with",
  ]
}
