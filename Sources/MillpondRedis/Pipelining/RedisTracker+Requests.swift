import MillpondSignals

/// The prefixes of which the server has been told on a connection.
struct SentPrefixes: Sendable {
  var version = 0
  var texts: [String] = []
}

extension RedisTracker {
  /// The commands that let the server track the present prefixes.
  struct Step: Sendable {
    var requests: [RedisRequest] = []

    /// What the server knows with the answer to the last one.
    let sent: SentPrefixes

    /// Whether nothing is reported meanwhile.
    var isAnew = false
  }

  /// The number of prefixes without a use for which the client does not track anew.
  static var unusedLimit: Int { 1_000 }

  /// Returns the commands that let the server track the present prefixes.
  ///
  /// Further prefixes are added to those of the connection, whose changes the server goes on to
  /// report, unless one of them is a beginning of those, which the server refuses, or most of those
  /// have no use any more.
  ///
  /// - Parameters:
  ///   - sent: What the server has been told on the connection; nil for a new one.
  ///   - number: The number of the server.
  func step(after sent: SentPrefixes?, on number: Int) -> Step {
    let (prefixes, version) = tell(number)
    guard tracking == .byPrefix else {
      // With NOLOOP the server would not tell a client whose own command makes it forget a key,
      // because it has more than fit.
      let isNew = isByKey && sent == nil
      let requests: [RedisRequest] = isNew ? [.command("CLIENT", "TRACKING", "ON")] : []
      return Step(requests: requests, sent: SentPrefixes(version: version, texts: []))
    }
    if let sent, !sent.texts.isEmpty {
      let newer = prefixes.filter { $0.version > sent.version }.map(\.text)
      let added = Self.withoutCovered(
        newer.filter { text in !sent.texts.contains { text.begins(with: $0) } })
      let isRefused = sent.texts.contains { text in added.contains { text.begins(with: $0) } }
      if !isRefused, sent.texts.count + added.count <= 2 * prefixes.count + Self.unusedLimit {
        return Step(
          requests: added.isEmpty ? [] : [Self.tracking(added)],
          sent: SentPrefixes(version: version, texts: sent.texts + added))
      }
    }
    let needed = Self.withoutCovered(prefixes.map(\.text))
    let isAnew = sent?.texts.isEmpty == false
    var requests: [RedisRequest] = isAnew ? [.command("CLIENT", "TRACKING", "OFF")] : []
    if !needed.isEmpty { requests.append(Self.tracking(needed)) }
    return Step(
      requests: requests, sent: SentPrefixes(version: version, texts: needed), isAnew: isAnew)
  }

  private static func tracking(_ prefixes: [String]) -> RedisRequest {
    var arguments: [RedisArgument] = ["CLIENT", "TRACKING", "ON", "BCAST", "NOLOOP"]
    // Without a prefix the server reports all keys.
    for prefix in prefixes where prefix != "" { arguments += ["PREFIX", .text(prefix)] }
    return .command(arguments)
  }

  /// Returns the prefixes without those that begin with another one, which the server refuses.
  private static func withoutCovered(_ texts: [String]) -> [String] {
    var needed: [String] = []
    for text in texts.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
      if needed.last.map({ text.begins(with: $0) }) != true { needed.append(text) }
    }
    return needed
  }
}
