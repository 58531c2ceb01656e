/// The times of one exchange with an origin; a redirect that is followed is another one.
///
///     URLSessionTransport(configuration: .ephemeral, onMetrics: { log.info("\($0)") })
public struct TransferMetrics: Sendable {
  /// The URL without user, password, fragment and the values of its query.
  public let url: String

  /// The status of the answer; nil if none came.
  public let status: Int?

  /// The time from the beginning to the end of the exchange.
  public let total: Duration

  /// The time from the beginning to the first byte of the answer; nil if none came.
  public let firstByte: Duration?

  /// The connection as the session describes it; nil on Linux, whose sessions collect nothing.
  public let connection: Connection?

  /// The connection of an exchange.
  public struct Connection: Sendable {
    /// Whether it was there before, so that the three times below are nil.
    public let isReused: Bool

    /// The name of its protocol, such as "h2" or "h3"; nil if that is not known.
    public let protocolName: String?

    /// The time in which the name of the host was looked up.
    public let nameLookup: Duration?

    /// The time in which it was set up, security included.
    public let setup: Duration?

    /// The time in which it was secured.
    public let security: Duration?

    /// Whether it goes through a network that the system counts as expensive, such as a cellular
    /// one.
    public let isExpensive: Bool

    /// Whether it goes through a network in Low Data Mode.
    public let isConstrained: Bool
  }
}

extension TransferMetrics: CustomStringConvertible {
  /// A single line for logs, with what is known.
  public var description: String {
    let connection: [String?] =
      self.connection.map {
        [
          $0.protocolName, $0.isReused ? "reused" : nil, $0.nameLookup.map { "name \($0)" },
          $0.setup.map { "connection \($0)" }, $0.security.map { "security \($0)" },
        ]
      } ?? []
    let parts: [String?] =
      [status.map { "\($0)" } ?? "no answer", url] + connection
      + [firstByte.map { "first byte \($0)" }, "in all \(total)"]
    return parts.compactMap { $0 }.joined(separator: ", ")
  }
}
