import MillpondCore
import MillpondSignals

/// Returns the cost of remembering values by a policy, beside a bare cache.
func multiplexerRows() -> [Row] {
  [
    Row(
      "remembered-hit", "a fresh value, remembered in memory", times: 1.2,
      beside: .bareHits,
      body: .hits { Unasked().remembered(in: $0, .multiplexed) }),
    Row(
      "multiplexed-hit", "a fresh value of a MultiplexerMap", times: 1.2,
      beside: .bareHits,
      body: .multiplexedHits),
    Row(
      "multiplexed-asks", "gets that join a fetch, until its value arrives",
      target: 1_000, beside: .objects(4), body: .asksTogether),
  ]
}

extension Work {
  /// Hits in a memory cache, with nothing around it.
  fileprivate static let bareHits = hits(called: "bare-hit") { $0 }

  fileprivate static let multiplexedHits = Work(expected: { $0 / 1_000 * triangle(1_000) }) {
    operations in
    let sum = Sum()
    let map = stockedMap
    for _ in 0..<(operations / 1_000) {
      for key in stringKeys { map.get(key).subscribe(onNext: { sum.add($0) }) }
    }
    return sum.take()
  }

  /// Ten thousand gets at a time wait for one fetch, which then ends.
  fileprivate static let asksTogether = Work(expected: { $0 }) { operations in
    let sum = Sum()
    var left = operations
    while left > 0 {
      let count = min(left, 10_000)
      let origin = PublishSubject<Int>()
      let map = MultiplexerMap<String, Int>(over: Piped(signal: origin.signal))
      for _ in 0..<count { map.get("a").subscribe(onNext: { sum.add($0) }) }
      origin.next(1)
      origin.completed()
      left -= count
    }
    return sum.take()
  }
}

/// A map that keeps all keys, made once because making it is not measured.
private let stockedMap: MultiplexerMap<String, Int> = {
  let map = MultiplexerMap<String, Int>(over: Unasked())
  for (number, key) in Work.stringKeys.enumerated() { map.set(number, for: key) }
  return map
}()

/// A source that never answers.
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
