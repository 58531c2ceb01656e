import MillpondSignals

/// Returns the costs of joining a shared signal.
func replayRows() -> [Row] {
  [
    Row(
      name: "replay-settled", summary: "5: subscribe to a settled replay", target: 25,
      mallocTarget: 0, peer: .asyncCode(18), baseline: .mutex, body: .settledReplay),
    Row(
      name: "replay-live", summary: "5b: subscribe to a live replay and dispose", target: 350,
      peer: .rxSwift(897), baseline: .objects(4), body: .liveReplay),
    Row(
      name: "replay-1000", summary: "5c: replay of the last thousand values, per value", target: 90,
      mallocTarget: 0, baseline: .mutex, body: .lastThousand),
  ]
}

extension Work {
  fileprivate static let lastThousand = Work("", expected: triangle) { operations in
    let sum = Sum()
    let pipe = PublishSubject<Int>()
    pipe.signal.replay(1_000).subscribe(onNext: { sum.add($0) })
    for term in 0..<operations { pipe.next(term) }
    return sum.take()
  }

  fileprivate static let settledReplay = Work("", expected: { 7 * $0 }) { operations in
    let sum = Sum()
    let signal = Signal.of(7).replayLast()
    signal.subscribe()
    for _ in 0..<operations { signal.subscribe(onNext: { sum.add($0) }) }
    return sum.take()
  }

  fileprivate static let liveReplay = Work("", expected: { 7 * $0 }) { operations in
    let sum = Sum()
    let pipe = PublishSubject<Int>()
    let signal = pipe.signal.replayLast()
    signal.subscribe()
    pipe.next(7)
    for _ in 0..<operations { signal.subscribe(onNext: { sum.add($0) }).dispose() }
    return sum.take()
  }
}
