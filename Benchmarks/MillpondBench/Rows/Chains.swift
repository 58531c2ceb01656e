import MillpondSignals

/// Events through operators that only change values.
func chainRows() -> [Row] {
  [
    Row(
      name: "chain-live", summary: "1: map·filter·map through a Pipe, an event", target: 28,
      baseline: .chain(of: 3), body: .liveChain),
    Row(
      name: "chain-cold", summary: "1b: the same, cold", target: 10,
      baseline: .chain(of: 3), body: .coldChain),
    Row(
      name: "ten-live", summary: "2: ten maps through a Pipe, an event", target: 50,
      baseline: .chain(of: 10), body: .liveMaps),
    Row(
      name: "ten-cold", summary: "2: ten maps, cold", target: 35,
      baseline: .chain(of: 10), body: .coldMaps),
  ]
}

extension Work {
  fileprivate static let liveChain = Work("", expected: threeSteps) { operations in
    let sum = Sum()
    let pipe = Pipe<Int>()
    threeOperators(opaque(pipe.signal)).subscribe(onNext: { sum.add($0) })
    for term in 0..<operations { pipe.next(term) }
    return sum.take()
  }

  fileprivate static let coldChain = Work("", expected: threeSteps) { operations in
    let sum = Sum()
    Signal.from(0..<operations)
      .map { $0 &+ 1 }.filter { $0 & 3 != 0 }.map { $0 &* 3 }
      .subscribe(onNext: { sum.add($0) })
    return sum.take()
  }

  fileprivate static let liveMaps = Work("", expected: { triangle($0) + 10 * $0 }) { operations in
    let sum = Sum()
    let pipe = Pipe<Int>()
    tenMaps(pipe.signal).subscribe(onNext: { sum.add($0) })
    for term in 0..<operations { pipe.next(term) }
    return sum.take()
  }

  fileprivate static let coldMaps = Work("", expected: { triangle($0) + 10 * $0 }) { operations in
    let sum = Sum()
    tenMaps(.from(0..<operations)).subscribe(onNext: { sum.add($0) })
    return sum.take()
  }

  private static func threeSteps(_ operations: Int) -> Int {
    (1...operations).lazy.filter { $0 & 3 != 0 }.reduce(0) { $0 + 3 * $1 }
  }
}

@inline(never)
private func threeOperators(_ signal: Signal<Int>) -> Signal<Int> {
  signal.map { $0 &+ 1 }.filter { $0 & 3 != 0 }.map { $0 &* 3 }
}

/// Built at run time, so that the optimiser can't fuse them.
@inline(never)
private func tenMaps(_ signal: Signal<Int>) -> Signal<Int> {
  (0..<10).reduce(signal) { signal, _ in opaque(signal.map { $0 &+ 1 }) }
}
