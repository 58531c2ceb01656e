/// The primaries of a cluster, with their slots, in order.
struct ClusterTopology: Sendable, Hashable {
  struct Part: Sendable, Hashable {
    let slots: ClosedRange<Int>
    let primary: RedisAddress
  }

  let parts: [Part]

  /// Reads an answer to `CLUSTER SLOTS`; nil if it is malformed, or names no primary.
  ///
  /// - Parameter address: The address of the server that has answered, which is spoken to as the
  ///   others are, and which may leave its own host out.
  init?(_ answer: RESPValue, from address: RedisAddress) {
    guard case .array(let rows) = answer, !rows.isEmpty else { return nil }
    var parts: [Part] = []
    for row in rows {
      guard case .array(let row) = row, row.count >= 3, case .integer(let first) = row[0],
        case .integer(let last) = row[1], 0 <= first, first <= last, last < ClusterSlot.count,
        case .array(let node) = row[2], node.count >= 2, case .integer(let port) = node[1],
        let primary = address.node(host: node[0].text ?? "", port: port)
      else { return nil }
      parts.append(Part(slots: Int(first)...Int(last), primary: primary))
    }
    self.parts = parts.sorted { $0.slots.lowerBound < $1.slots.lowerBound }
  }
}

extension RedisAddress {
  /// Returns the address that a server at this one names; without a host it is at the same one.
  func node(host: String, port: Int64) -> RedisAddress? {
    guard let port = UInt16(exactly: port), port > 0 else { return nil }
    switch self {
    case .tcp(let own, _): return .tcp(host: host.isEmpty ? own : host, port: port)
    case .tls(let own, _): return .tls(host: host.isEmpty ? own : host, port: port)
    case .unix, .sentinels, .cluster: return nil
    }
  }
}

extension ServerInquiry<ClusterTopology>.Question {
  /// The question to a cluster for the servers of its slots.
  static func slots(_ settings: RedisSettings) -> Self {
    Self(
      subject: "the cluster",
      requests: settings.greeting.prefix(1) + [.command("CLUSTER", "SLOTS")],
      limits: RESPLimits(lineLength: 1_024, stringLength: 1_024, elements: 1 << 18)
    ) { ClusterTopology($0, from: $1) }
  }
}
