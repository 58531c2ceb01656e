import Dispatch
import Foundation
import LoopbackServer
import Millpond

/// Returns the rows about HTTP, beside a bare `URLSession`.
///
/// The origin is in this process, so both figures contain its processor time.
func networkRows() -> [Row] {
  [
    Row(
      "network-request-cpu", "processor time of a request of 1 KiB", unit: "µs",
      [Target(over: 15)], repetitions: 15, .median, clock: processorSeconds
    ) { run in
      (try requests(of: 1_024) { $0.get($1) }, operations: run.count(400, quick: 20))
    },
    Row(
      "network-stream-50m", "a body of 50 MB, in pieces", unit: "ms", [Target(times: 1.05)],
      repetitions: 15, .median
    ) { run in
      let byteCount = run.count(50 << 20, quick: 5 << 20)
      return (try requests(of: byteCount) { $0.pieces(of: $1) }, operations: 1)
    },
    Row(
      "network-cancel", "from a disposal during the body to the start of the next get", unit: "ms",
      [Target(atMost: 15)], measure: measureCancels),
    Row(
      "network-growth-1g", "growth of the process during a body of 1 GB", unit: "MB",
      [Target(atMost: 20)]
    ) { try measureGrowth($0, &$1, toDisk: false) },
    Row(
      "network-growth-1g-disk", "the same, for a body that is written to disk", unit: "MB",
      [Target(atMost: 20)]
    ) { try measureGrowth($0, &$1, toDisk: true) },
    Row(
      "network-validated-1m", "body bytes that move for a value of 1 MB that did not change",
      unit: "bytes", [Target(atMost: 0)], measure: measureValidation),
  ]
}

/// Returns requests beside those of a bare session.
private func requests(
  of byteCount: Int, _ get: @escaping @Sendable (HTTPSource<URL>, URL) -> Signal<Data>
) throws -> [Work] {
  let origin = try LoopbackServer.streaming(byteCount)
  let (url, source, bare) = (try origin.url("/"), HTTPSource(), BareSession())
  return [
    Work(expected: { $0 * byteCount }, prepare: origin.forgetExchanges) { count in
      (0..<count).reduce(0) { sum, _ in sum + waitForBytes(get(source, url)) }
    },
    Work("URLSession", expected: { $0 * byteCount }, prepare: origin.forgetExchanges) { count in
      (0..<count).reduce(0) { sum, _ in sum + bare.get(url) }
    },
  ]
}

/// Measures the delay of disposals, as seen by a caller that waits for the slot.
private func measureCancels(_ run: Run, _ sample: inout Sample) throws {
  let body = [UInt8](repeating: 1, count: 100_000)
  let origin = try LoopbackServer { request in
    request.path == "/next"
      ? Response() : Response(body: body).held(by: ResponseHold(), afterBodyBytes: 50_000)
  }
  let (held, next) = (try origin.url("/held"), try origin.url("/next"))
  let delays = (0..<run.count(30, quick: 6)).map { _ in
    let (isInBody, turn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let source = HTTPSource { (url: URL) in
      if url == next { turn.signal() }
      return HTTPRequest(url: url)
    }.limited(to: 1)
    let first = source.get(held).subscribe { event in
      if case .progress(let progress) = event, progress.completed == 50_000 { isInBody.signal() }
    }
    isInBody.wait()
    let second = source.get(next).subscribe()
    let start = wallSeconds()
    first.dispose()
    turn.wait()
    defer { second.dispose() }
    return (wallSeconds() - start) * 1e3
  }
  sample.value = delays.sorted()[delays.count / 2]
}

/// Counts the body bytes that move when a value that did not change is requested again.
private func measureValidation(_ run: Run, _ sample: inout Sample) throws {
  let body = [UInt8](repeating: 1, count: 1 << 20)
  let origin = try LoopbackServer { request in
    let headers: Headers = ["Cache-Control": "no-cache", "ETag": "\"1\""]
    return request.headers["If-None-Match"] == "\"1\""
      ? Response(status: 304, headers: headers) : Response(headers: headers, body: body)
  }
  let source = HTTPSource(
    transport: HTTPCache(
      over: URLSessionTransport(), in: MemoryCache<String, HTTPCacheRecord>(countLimit: 1_000)))
  let url = try origin.url("/")
  let counts = [waitForBytes(source.pieces(of: url)), waitForBytes(source.pieces(of: url))]
  let moved = origin.exchanges.dropFirst().count { $0.request.headers["If-None-Match"] == nil }
  sample.value = Double(moved * body.count)
  sample.floors = [Sample.Floor(name: "a fetch", value: Double(body.count))]
  sample.isSumRight = counts == [body.count, body.count] && origin.exchanges.count == 2
}

/// Subscribes, waits for the end, and returns the number of bytes.
func waitForBytes(_ signal: Signal<Data>) -> Int {
  let count = SignalSum(of: 1)
  count.add(signal) { $0.count }
  return count.total()
}
