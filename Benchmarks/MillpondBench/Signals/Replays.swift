import MillpondSignals

/// Returns the costs of joining a shared signal.
func replayRows() -> [Row] {
  [
    Row(
      "replay-settled", "subscribe to a settled replay", target: 25, mallocs: 0,
      peer: ("async code", 18), beside: .mutex,
      .summing(expected: { 7 * $0 }) { sum, operations in
        let signal = Signal.of(7).replayLast()
        signal.subscribe()
        for _ in 0..<operations { signal.subscribe(onNext: { sum.add($0) }) }
      }),
    Row(
      "replay-live", "subscribe to a live replay and dispose", target: 350,
      peer: ("RxSwift", 897), beside: .objects(4),
      .summing(expected: { 7 * $0 }) { sum, operations in
        let pipe = PublishSubject<Int>()
        let signal = pipe.signal.replayLast()
        signal.subscribe()
        pipe.next(7)
        for _ in 0..<operations { signal.subscribe(onNext: { sum.add($0) }).dispose() }
      }),
    Row(
      "replay-1000", "replay of the last thousand values, per value", target: 90, mallocs: 0,
      beside: .mutex,
      .summing(expected: triangle) { sum, operations in
        let pipe = PublishSubject<Int>()
        pipe.signal.replay(1_000).subscribe(onNext: { sum.add($0) })
        for term in 0..<operations { pipe.next(term) }
      }),
  ]
}
