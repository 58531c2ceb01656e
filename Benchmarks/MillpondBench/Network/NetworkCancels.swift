import Dispatch
import Foundation
import LoopbackServer
import Millpond

/// Measures the delay of a disposal, as seen by a caller that waits for the slot and by the origin.
func measureCancels(
  _ effort: NetworkEffort
) throws -> (caller: NetworkFigures, origin: NetworkFigures) {
  let body = [UInt8](repeating: 1, count: 100_000)
  let origin = try LoopbackServer { request in
    request.path == "/next"
      ? Response() : Response(body: body).held(by: ResponseHold(), afterBodyBytes: 50_000)
  }
  let (held, next) = (try origin.url("/held"), try origin.url("/next"))
  var (caller, left): ([Double], [Double]) = ([], [])
  for _ in 0..<(effort.pairs * 2) {
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
    let start = ContinuousClock.now
    first.dispose()
    turn.wait()
    caller.append((ContinuousClock.now - start).seconds * 1e3)
    let wasLeft = origin.wait(timeout: .seconds(10)) { snapshot in
      snapshot.exchanges.contains { exchange in
        if case .clientClosed = exchange.outcome { exchange.request.path == "/held" } else { false }
      }
    }
    if wasLeft { left.append((ContinuousClock.now - start).seconds * 1e3) }
    second.dispose()
  }
  return (
    NetworkFigures(ours: median(caller)),
    NetworkFigures(ours: median(left), isSumRight: left.count == effort.pairs * 2)
  )
}
