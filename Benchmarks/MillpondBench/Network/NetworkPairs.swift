import Foundation
import LoopbackServer
import Millpond

/// Measures the processor time of a request, alternating between ours and a bare session.
func measureRequests(_ effort: NetworkEffort) throws -> NetworkFigures {
  let body = [UInt8](repeating: 1, count: 1_024)
  let origin = try LoopbackServer { _ in Response(body: body) }
  let url = try origin.url("/")
  let source = HTTPSource()
  let bare = BareSession(gathers: true)
  defer { bare.close() }
  return pairs(effort, expecting: effort.requests * 1_024) {
    let start = processorTime()
    var count = 0
    for _ in 0..<effort.requests { count += waitForBytes(source.get(url)) }
    return (microseconds(since: start, effort.requests), count)
  } bare: {
    let start = processorTime()
    var count = 0
    for _ in 0..<effort.requests { count += bare.get(url) }
    return (microseconds(since: start, effort.requests), count)
  } between: {
    origin.forgetExchanges()
  }
}

/// Measures the speed of a streaming body, alternating between ours and a bare session.
func measureStreams(_ effort: NetworkEffort) throws -> NetworkFigures {
  let origin = try LoopbackServer.streaming(effort.streamed)
  let url = try origin.url("/")
  let source = HTTPSource()
  let bare = BareSession(gathers: false)
  defer { bare.close() }
  let megabytes = Double(effort.streamed) / 1e6
  return pairs(effort, expecting: effort.streamed) {
    let start = ContinuousClock.now
    let count = waitForBytes(source.pieces(of: url))
    return (megabytes / (ContinuousClock.now - start).seconds, count)
  } bare: {
    let start = ContinuousClock.now
    let count = bare.get(url)
    return (megabytes / (ContinuousClock.now - start).seconds, count)
  } between: {
    origin.forgetExchanges()
  }
}

/// Returns the medians of two figures that are measured in turns, after one turn that doesn't
/// count.
private func pairs(
  _ effort: NetworkEffort, expecting expected: Int, ours: () -> (Double, Int),
  bare: () -> (Double, Int), between: () -> Void
) -> NetworkFigures {
  var figures: (ours: [Double], bare: [Double]) = ([], [])
  var isSumRight = true
  for round in 0...effort.pairs {
    // The first contender alternates, so that neither always profits from the other's turn.
    let results = round.isMultiple(of: 2) ? [ours(), bare()] : [bare(), ours()].reversed()
    isSumRight = isSumRight && results.allSatisfy { $0.1 == expected }
    between()
    if round == 0 { continue }
    figures.ours.append(results[0].0)
    figures.bare.append(results[1].0)
  }
  return NetworkFigures(
    ours: median(figures.ours), bare: median(figures.bare), isSumRight: isSumRight)
}

private func microseconds(since start: Double, _ requests: Int) -> Double {
  (processorTime() - start) / Double(requests) * 1e6
}
