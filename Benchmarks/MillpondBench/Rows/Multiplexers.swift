import MillpondCore
import MillpondSignals

/// Returns the cost of remembering values by a policy, beside a bare cache.
func multiplexerRows() -> [Row] {
  [
    Row(
      name: "remembered-hit", summary: "a fresh value, remembered in memory", ratioTarget: 1.2,
      isCounted: false, baseline: .bareHits,
      body: .hits { Unasked().remembered(in: $0, .multiplexed) }),
    Row(
      name: "multiplexed-hit", summary: "a fresh value of a MultiplexerMap", ratioTarget: 1.2,
      isCounted: false, baseline: .bareHits,
      body: .multiplexedHits),
    Row(
      name: "multiplexed-asks", summary: "gets that join a fetch, until its value arrives",
      target: 1_000, isCounted: false, baseline: .objects(4), body: .asksTogether),
    Row(
      name: "observe-fresh", summary: "observing a fresh value: its state, and leaving",
      isCounted: false, baseline: .objects(4), body: .freshObservations),
    Row(
      name: "observe-set", summary: "a set of an observed value, and its new state",
      isCounted: false, baseline: .objects(4), body: .observedSets),
  ]
}

extension Work {
  /// Hits in a memory cache, with nothing around it.
  fileprivate static let bareHits = hits(called: "bare-hit") { $0 }

  fileprivate static let multiplexedHits = Work("", expected: { $0 / 1_000 * triangle(1_000) }) {
    operations in
    let sum = Sum()
    let map = stockedMap
    for _ in 0..<(operations / 1_000) {
      for key in stringKeys { map.get(key).subscribe(onNext: { sum.add($0) }) }
    }
    return sum.take()
  }

  /// Observers that come and go.
  fileprivate static let freshObservations = Work("", expected: { $0 / 1_000 * triangle(1_000) }) {
    operations in
    let sum = Sum()
    let map = stockedMap
    for _ in 0..<(operations / 1_000) {
      for key in stringKeys {
        map.observe(key).subscribe(onNext: { sum.add($0.value ?? 0) }).dispose()
      }
    }
    return sum.take()
  }

  /// Sets of one key, each of which an observer sees.
  fileprivate static let observedSets = Work("", expected: { triangle($0 + 1) }) { operations in
    let sum = Sum()
    let map = MultiplexerMap<String, Int>(over: Unasked())
    map.set(0, for: "a")
    let observation = map.observe("a").subscribe(onNext: { sum.add($0.value ?? 0) })
    for number in 1...operations { map.set(number, for: "a") }
    observation.dispose()
    return sum.take()
  }

  /// Ten thousand gets at a time wait for one fetch, which then ends.
  fileprivate static let asksTogether = Work("", expected: { $0 }) { operations in
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
