/// The slots of a cluster, each of which has one primary.
///
/// - Source: https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/
enum ClusterSlot {
  static let count = 16_384

  /// Returns the slot of a key: of what stands between its first braces, or of the whole.
  static func of(_ key: RedisKey) -> Int {
    var key = key.prefix + key.key
    let slot = key.withUTF8 { bytes in
      guard let start = bytes.firstIndex(of: UInt8(ascii: "{")),
        let end = bytes[(start + 1)...].firstIndex(of: UInt8(ascii: "}")), end > start + 1
      else { return checksum(bytes[...]) }
      return checksum(bytes[(start + 1)..<end])
    }
    return Int(slot) % count
  }

  /// The checksum CRC-16/XMODEM.
  private static func checksum(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> UInt16 {
    var sum: UInt16 = 0
    for byte in bytes { sum = sum << 8 ^ table[Int(UInt8(sum >> 8) ^ byte)] }
    return sum
  }

  private static let table: [UInt16] = (0..<256).map { index in
    (0..<8).reduce(UInt16(index) << 8) { sum, _ in sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x1021
    }
  }
}

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

/// The answer of a cluster's server that another one has the key, or will have it soon.
enum Redirection: Equatable {
  /// The slot has another server.
  case moved(slot: Int, RedisAddress)

  /// The slot is moving, and this key is at another server already, if anywhere.
  case ask(slot: Int, RedisAddress)

  /// The server may carry the command out in a moment.
  case later

  /// Reads an error; nil if it is no redirection.
  init?(_ message: String, from address: RedisAddress) {
    let words = message.split(separator: " ")
    switch words.first {
    case "CLUSTERDOWN", "TRYAGAIN": self = .later
    case "MOVED", "ASK":
      guard words.count == 3, let slot = Int(words[1]), (0..<ClusterSlot.count).contains(slot),
        let colon = words[2].lastIndex(of: ":"),
        let port = Int64(words[2][words[2].index(after: colon)...]),
        let target = address.node(host: String(words[2][..<colon]), port: port)
      else { return nil }
      self = words[0] == "MOVED" ? .moved(slot: slot, target) : .ask(slot: slot, target)
    default: return nil
    }
  }
}
