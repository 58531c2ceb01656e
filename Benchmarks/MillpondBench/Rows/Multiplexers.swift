import MillpondCore
import MillpondSignals

/// What it costs that values are remembered by a policy, beside a bare cache.
func multiplexerRows() -> [Row] {
  [
    Row(
      name: "remembered-hit", summary: "a fresh value, remembered in memory", ratioTarget: 1.2,
      baseline: .bareHits,
      body: .hits { Unasked().remembered(in: $0, .multiplexed) }),
    Row(
      name: "multiplexed-hit", summary: "a fresh value of a MultiplexerMap", ratioTarget: 1.2,
      baseline: .bareHits,
      body: .hits { memory in
        let map = MultiplexerMap(over: Unasked())
        for (key, value) in memory.snapshot() { map.set(value, for: key) }
        return map
      }),
    Row(
      name: "multiplexed-asks", summary: "asks for what is being fetched, and its arrival",
      target: 1_000, baseline: .objects(4), body: .asksTogether),
  ]
}

extension Work {
  /// Hits in a memory cache, with nothing around it.
  fileprivate static let bareHits = hits(called: "bare-hit") { $0 }

  /// All of them wait for one fetch, which then arrives.
  fileprivate static let asksTogether = Work("", expected: { $0 }) { operations in
    let sum = Sum()
    let origin = Pipe<Int>()
    let map = MultiplexerMap<String, Int>(over: Piped(signal: origin.signal))
    let askers = (0..<operations).map { _ in map.get("a").subscribe(onNext: { sum.add($0) }) }
    origin.next(1)
    origin.completed()
    return sum.take() + askers.count { !$0.isDisposed }
  }
}

/// What would never answer.
private struct Unasked: Source {
  func get(_ key: String, _ lookup: Lookup) -> Signal<Int> {
    .never
  }
}

private struct Piped: Source {
  let signal: Signal<Int>

  func get(_ key: String, _ lookup: Lookup) -> Signal<Int> {
    signal
  }
}
