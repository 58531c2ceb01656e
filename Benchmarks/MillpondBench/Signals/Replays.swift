import MillpondSignals

/// Returns the costs of joining a shared signal.
func replayRows() -> [Row] {
  [
    Row(
      "replay-settled", "subscribe to a settled replay", target: 25,
      mallocs: 0, peer: .asyncCode(18), beside: .mutex, body: .settledReplay),
    Row(
      "replay-live", "subscribe to a live replay and dispose", target: 350,
      peer: .rxSwift(897), beside: .objects(4), body: .liveReplay),
    Row(
      "replay-1000", "replay of the last thousand values, per value", target: 90,
      mallocs: 0, beside: .mutex, body: .lastThousand),
  ]
}

extension Work {
  fileprivate static let lastThousand = Work(expected: triangle) { operations in
    let sum = Sum()
    let pipe = PublishSubject<Int>()
    pipe.signal.replay(1_000).subscribe(onNext: { sum.add($0) })
    for term in 0..<operations { pipe.next(term) }
    return sum.take()
  }

  fileprivate static let settledReplay = Work(expected: { 7 * $0 }) { operations in
    let sum = Sum()
    let signal = Signal.of(7).replayLast()
    signal.subscribe()
    for _ in 0..<operations { signal.subscribe(onNext: { sum.add($0) }) }
    return sum.take()
  }

  fileprivate static let liveReplay = Work(expected: { 7 * $0 }) { operations in
    let sum = Sum()
    let pipe = PublishSubject<Int>()
    let signal = pipe.signal.replayLast()
    signal.subscribe()
    pipe.next(7)
    for _ in 0..<operations { signal.subscribe(onNext: { sum.add($0) }).dispose() }
    return sum.take()
  }
}
