import Dispatch
import Foundation
import LoopbackServer
import Millpond

/// Measures the delay of a disposal, as seen by a caller that waits for the slot and by the origin.
func measureCancels(_ run: Run, _ report: (Sample) -> Void) throws {
  let body = [UInt8](repeating: 1, count: 100_000)
  let origin = try LoopbackServer { request in
    request.path == "/next"
      ? Response() : Response(body: body).held(by: ResponseHold(), afterBodyBytes: 50_000)
  }
  let (held, next) = (try origin.url("/held"), try origin.url("/next"))
  let count = run.count(30, quick: 6)
  var (caller, left): ([Double], [Double]) = ([], [])
  for _ in 0..<count {
    origin.forgetExchanges()
    let turn = DispatchSemaphore(value: 0)
    let source = HTTPSource { (url: URL) in
      if url == next { turn.signal() }
      return HTTPRequest(url: url)
    }.limited(to: 1)
    let isInBody = DispatchSemaphore(value: 0)
    let first = source.get(held).subscribe { event in
      if case .progress(let progress) = event, progress.completed == 50_000 { isInBody.signal() }
    }
    isInBody.wait()
    let second = source.get(next).subscribe()
    let start = wallSeconds()
    first.dispose()
    turn.wait()
    caller.append((wallSeconds() - start) * 1e3)
    let wasLeft = origin.wait(timeout: .seconds(10)) { snapshot in
      snapshot.exchanges.contains { exchange in
        if case .clientClosed = exchange.outcome { exchange.request.path == "/held" } else { false }
      }
    }
    if wasLeft { left.append((wallSeconds() - start) * 1e3) }
    second.dispose()
  }
  report(
    Sample(
      name: "network-cancel-caller",
      summary: "from a disposal during the body to the start of the next get", unit: "ms",
      value: median(caller), targets: [Target(atMost: 15)]))
  report(
    Sample(
      name: "network-cancel-origin",
      summary: "from a disposal during the body to the end of the connection at the origin",
      unit: "ms", value: median(left), targets: [Target(atMost: 100)],
      isSumRight: left.count == count))
}
