import MillpondSignals

/// The reports of the server, and the reads that make it report, or that find what it never reports.
extension RedisTracker {
  /// Acts on a message of the server.
  func received(_ elements: [RESPValue], on node: RedisNode) {
    guard elements.count >= 2, elements[0].text == "invalidate" else { return }
    let prefixes = all
    // Without keys, everything was removed.
    guard case .array(let keys) = elements[1] else { return manyRemoved(prefixes, node) }
    // Keys that are not text are of no cache.
    for serverKey in keys.lazy.compactMap(\.text) {
      for prefix in prefixes {
        guard let key = prefix.key(of: serverKey) else { continue }
        if key.begins(with: TrackedPrefix.removalKey) {
          manyRemoved([prefix], node)
        } else if connection(of: key) === node.connection {
          changed(key, of: prefix, on: node.connection)
        }
      }
    }
  }

  /// Acts on a report that many keys were removed.
  private func manyRemoved(_ prefixes: [TrackedPrefix], _ node: RedisNode) {
    clear(prefixes)
    guard isByKey else { return }
    // Until it is read again, another such removal is not reported.
    for prefix in prefixes {
      node.submitOwn(Self.read(prefix)) { _ in self.clear([prefix]) }
    }
  }

  // MARK: Reads

  /// A command and the receiver of its answer.
  typealias Read = (request: RedisRequest, answer: RedisAnswer)

  /// Returns the commands that go before all others on a new connection.
  func firstReads(on node: RedisNode) -> [Read] {
    let keys = reads().map { Read($0, { _ in }) }
    if tracking == .off || node.number > 0 { return keys }
    return keys + [(Self.statistics, { @Sendable in self.note($0, isFirst: true) })]
  }

  /// Returns the commands after which the server reports removals of many keys, if it tracks by what
  /// has been read.
  ///
  /// - Parameter version: The version of the prefixes for which they have been sent.
  func reads(after version: Int = -1) -> [RedisRequest] {
    isByKey ? all.filter { $0.version > version }.map { Self.read($0) } : []
  }

  static func read(_ prefix: TrackedPrefix) -> RedisRequest {
    .get(RedisKey(prefix: prefix.text, key: TrackedPrefix.removalKey))
  }

  // MARK: Exchanges of databases

  private static var statistics: RedisRequest { .command("INFO", "commandstats") }

  /// Asks from time to time whether databases have been exchanged, while anything follows.
  ///
  /// - Parameters:
  ///   - node: The server; only the first connection's is asked.
  ///   - pause: The time between two questions.
  ///   - now: The time.
  func askForExchanges(on node: RedisNode, every pause: Int64, at now: Int64) {
    guard node.number == 0, tracking != .off, isFollowed, node.generation != nil else {
      return
    }
    let isDue = exchanges.withLock { state in
      if now < state.nextQuestion { return false }
      state.nextQuestion = now + pause
      return true
    }
    if isDue { node.submitOwn(Self.statistics) { self.note($0, isFirst: false) } }
  }

  /// Clears what follows if databases have been exchanged since the last answer.
  ///
  /// Users who may not ask are not told of exchanges.
  private func note(_ answer: Result<RESPValue, RedisError>, isFirst: Bool) {
    guard case .success(let reply) = answer, let text = reply.text else { return }
    let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("cmdstat_swapdb:") }
    let count = line?.prefix { $0 != "," }.description
    let isOther = exchanges.withLock { exchange(&$0.count, with: count) != count }
    if isOther, !isFirst { clear(all) }
  }
}

/// The exchanges of databases (`SWAPDB`), which the server counts, and does not report.
struct DatabaseExchanges: Sendable {
  /// The last answer of the server; nil for none.
  var count: String?

  /// The time before which it is not asked again.
  var nextQuestion: Int64 = 0
}
