/// Something about the network that is measured.
struct NetworkRow: Sendable {
  /// The direction of the target.
  enum Target: Sendable {
    /// Ours is no more than this.
    case atMost(Double)

    /// Ours is at least this share of the bare session's.
    case atLeastShare(Double)

    /// Ours is no more than so many times the bare session's.
    case atMostTimes(Double)

    /// Ours is no more than this over the bare session's.
    case atMostOver(Double)
  }

  let name: String
  let summary: String
  let unit: String
  let target: Target
  let measure: @Sendable (NetworkEffort) throws -> NetworkFigures

  static let all = [
    NetworkRow(
      name: "network-request-cpu", summary: "processor time of a request of 1 KiB", unit: "µs",
      target: .atMostOver(15), measure: measureRequests),
    NetworkRow(
      name: "network-stream-50m", summary: "throughput of a body of 50 MB, in pieces",
      unit: "MB/s", target: .atLeastShare(0.95), measure: measureStreams),
    NetworkRow(
      name: "network-cancel-caller",
      summary: "from a disposal during the body to the start of the next get", unit: "ms",
      target: .atMost(15), measure: { try measureCancels($0).caller }),
    NetworkRow(
      name: "network-cancel-origin",
      summary: "from a disposal during the body to the end of the connection at the origin",
      unit: "ms", target: .atMost(100), measure: { try measureCancels($0).origin }),
    NetworkRow(
      name: "network-growth-1g", summary: "growth of the process during a body of 1 GB",
      unit: "MB", target: .atMost(20), measure: measureGrowth),
    NetworkRow(
      name: "network-growth-1g-disk", summary: "the same, for a body that is written to disk",
      unit: "MB", target: .atMost(20), measure: measureGrowthOnDisk),
    NetworkRow(
      name: "network-validated-1m",
      summary: "body bytes that move for a value of 1 MB that did not change, beside a fetch",
      unit: "B", target: .atMost(0), measure: measureValidation),
    NetworkRow(
      name: "network-browsing-requests",
      summary: "requests for 20 pages with their files, beside no cache", unit: "",
      target: .atMost(130), measure: { _ in try measureBrowsing().requests }),
    NetworkRow(
      name: "network-browsing-bytes",
      summary: "body bytes for 20 pages with their files, beside no cache", unit: "KiB",
      target: .atMost(4_000), measure: { _ in try measureBrowsing().kilobytes }),
    NetworkRow(
      name: "network-browsing-urlcache",
      summary: "requests for the same pages, all at once, beside a URLSession with a URLCache",
      unit: "", target: .atMostTimes(1), measure: { _ in try measureBrowsingBesideURLCache() }),
  ]
}

/// The figures of a row; nil if the system cannot measure them or there is nothing to compare.
struct NetworkFigures {
  var ours: Double?
  var bare: Double?
  var isSumRight = true
}
