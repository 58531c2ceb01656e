import Foundation
import LoopbackServer
import Millpond

/// Returns the rows about HTTP, beside a bare `URLSession`.
///
/// Its delegate only counts or collects bytes. The origin is in this process, so both figures
/// contain its processor time.
func networkRows() -> [Row] {
  [
    Row(
      "network-request-cpu", "processor time of a request of 1 KiB", unit: "µs",
      [Target(over: 15)], measure: measureRequests),
    Row(
      "network-stream-50m", "a body of 50 MB, in pieces", unit: "ms", [Target(times: 1.05)],
      measure: measureStreams),
    Row(
      "network-cancel", "from a disposal during the body to its effects", samples: measureCancels),
    Row(
      "network-growth-1g", "growth of the process during a body of 1 GB", unit: "MB",
      [Target(atMost: 20)], measure: measureGrowth),
    Row(
      "network-growth-1g-disk", "the same, for a body that is written to disk", unit: "MB",
      [Target(atMost: 20)], measure: measureGrowthOnDisk),
    Row(
      "network-validated-1m", "body bytes that move for a value of 1 MB that did not change",
      unit: "bytes", [Target(atMost: 0)], measure: measureValidation),
    Row(
      "network-browsing", "requests and bytes for 20 pages with their files",
      samples: measureBrowsing),
    Row(
      "network-browsing-urlcache", "requests for the same pages, all at once", unit: "",
      [Target(times: 1)], measure: measureBrowsingBesideURLCache),
  ]
}

private func measureRequests(_ run: Run, _ sample: inout Sample) throws {
  let body = [UInt8](repeating: 1, count: 1_024)
  let origin = try LoopbackServer { _ in Response(body: body) }
  try sample.measure(
    origin, run, requests: run.count(400, quick: 20), of: body.count, gathers: true,
    unit: .microseconds(1), clock: processorSeconds
  ) { $0.get($1) }
}

private func measureStreams(_ run: Run, _ sample: inout Sample) throws {
  let byteCount = run.count(50 << 20, quick: 5 << 20)
  try sample.measure(
    LoopbackServer.streaming(byteCount), run, requests: 1, of: byteCount, gathers: false,
    unit: .milliseconds(1), clock: wallSeconds
  ) { $0.pieces(of: $1) }
}

extension Sample {
  /// Measures requests beside those of a bare session.
  fileprivate mutating func measure(
    _ origin: LoopbackServer, _ run: Run, requests: Int, of byteCount: Int, gathers: Bool,
    unit: Duration, clock: () -> Double,
    _ get: @escaping @Sendable (HTTPSource<URL>, URL) -> Signal<Data>
  ) throws {
    let (url, source, bare) = (try origin.url("/"), HTTPSource(), BareSession(gathers: gathers))
    defer { bare.close() }
    let works = [
      Work(expected: { $0 * byteCount }, prepare: origin.forgetExchanges) { count in
        (0..<count).reduce(0) { sum, _ in sum + waitForBytes(get(source, url)) }
      },
      Work("URLSession", expected: { $0 * byteCount }, prepare: origin.forgetExchanges) { count in
        (0..<count).reduce(0) { sum, _ in sum + bare.get(url) }
      },
    ]
    try measure(
      works.map { ($0, requests) }, repetitions: run.count(15, quick: 3), .median, unit: unit,
      clock: clock)
  }
}

/// Subscribes, waits for the end, and returns the number of bytes.
func waitForBytes(_ signal: Signal<Data>) -> Int {
  let count = SignalSum(of: 1)
  count.add(signal) { $0.count }
  return count.total()
}
