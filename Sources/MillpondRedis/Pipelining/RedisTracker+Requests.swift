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

  /// Returns the commands that let the server track the present prefixes.
  ///
  /// Further prefixes are added to those of the connection, whose changes the server goes on to
  /// report, unless one of them is a beginning of those, which the server refuses, or most of those
  /// have no use any more.
  ///
  /// - Parameters:
  ///   - sent: What the server has been told on the connection; nil for a new one.
  ///   - connection: The number of the connection.
  func step(after sent: SentPrefixes?, on connection: Int) -> Step {
    let (texts, version) = tell(connection)
    guard tracking == .byPrefix else {
      let requests: [RedisRequest] = isByKey ? [.command("CLIENT", "TRACKING", "ON", "NOLOOP")] : []
      return Step(requests: requests, sent: SentPrefixes(version: version))
    }
    let needed = Self.withoutCovered(texts)
    if needed.isEmpty {
      return Step(sent: SentPrefixes(version: version, texts: sent?.texts ?? []))
    }
    guard let sent, !sent.texts.isEmpty else {
      return Step(
        requests: [Self.tracking(needed)], sent: SentPrefixes(version: version, texts: needed))
    }
    let (known, wanted) = (Self.table(sent.texts), Self.table(needed))
    let added = needed.filter { known.matches($0).isEmpty }
    let isRefused = sent.texts.contains { text in
      wanted.matches(text).contains { !$0.utf8.elementsEqual(text.utf8) }
    }
    if isRefused || sent.texts.count + added.count > 2 * needed.count + 16 {
      return Step(
        requests: [.command("CLIENT", "TRACKING", "OFF"), Self.tracking(needed)],
        sent: SentPrefixes(version: version, texts: needed), isAnew: true)
    }
    return Step(
      requests: added.isEmpty ? [] : [Self.tracking(added)],
      sent: SentPrefixes(version: version, texts: sent.texts + added))
  }

  private static func tracking(_ prefixes: [String]) -> RedisRequest {
    var arguments: [RedisArgument] = ["CLIENT", "TRACKING", "ON", "BCAST", "NOLOOP"]
    // Without a prefix the server reports all keys.
    for prefix in prefixes where prefix != "" { arguments += ["PREFIX", .text(prefix)] }
    return .command(arguments)
  }

  private static func table(_ texts: [String]) -> PrefixTable<String> {
    var table = PrefixTable<String>()
    for text in texts { table[text] = text }
    return table
  }

  /// Returns the prefixes without those that begin with another one, which the server refuses.
  private static func withoutCovered(_ texts: [String]) -> [String] {
    var needed: [String] = []
    for text in texts.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
      if let last = needed.last, text.utf8.starts(with: last.utf8) { continue }
      needed.append(text)
    }
    return needed
  }
}
