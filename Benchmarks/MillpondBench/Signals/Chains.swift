import MillpondSignals

/// Returns the costs of events through operators that only change values.
///
/// The optimiser may fuse a chain that is written in one expression, as most chains are, because it
/// sees the bodies of the library's operators; peers' chains can't be fused. Ten maps that are made
/// in a loop can't be fused in any library.
func chainRows() -> [Row] {
  [
    Row(
      "chain-live", "map·filter·map through a subject, per event", target: 28,
      peer: ("OpenCombine", 142), beside: .chain(of: 3),
      .summing(expected: threeSteps) { sum, operations in
        let pipe = PublishSubject<Int>()
        threeOperators(opaque(pipe.signal)).subscribe(onNext: { sum.add($0) })
        for term in 0..<operations { pipe.next(term) }
      }),
    Row(
      "chain-cold", "the same, cold", target: 10, peer: ("OpenCombine", 196),
      beside: .chain(of: 3),
      // With a sum of its own, so that the optimiser sees all of it.
      Work(expected: threeSteps) { operations in
        let sum = Sum()
        Signal.from(0..<operations)
          .map { $0 &+ 1 }.filter { $0 & 3 != 0 }.map { $0 &* 3 }
          .subscribe(onNext: { sum.add($0) })
        return sum.take()
      }),
    Row(
      "ten-live", "ten maps built at run time, through a subject, per event", target: 50,
      peer: ("OpenCombine", 210), beside: .chain(of: 10),
      .summing(expected: tenSteps) { sum, operations in
        let pipe = PublishSubject<Int>()
        tenMaps(pipe.signal).subscribe(onNext: { sum.add($0) })
        for term in 0..<operations { pipe.next(term) }
      }),
    Row(
      "ten-cold", "ten maps built at run time, cold", target: 35, peer: ("OpenCombine", 294),
      beside: .chain(of: 10),
      .summing(expected: tenSteps) { sum, operations in
        tenMaps(.from(0..<operations)).subscribe(onNext: { sum.add($0) })
      }),
  ]
}

@Sendable private func threeSteps(_ operations: Int) -> Int {
  (1...operations).lazy.filter { $0 & 3 != 0 }.reduce(0) { $0 + 3 * $1 }
}

@Sendable private func tenSteps(_ operations: Int) -> Int {
  triangle(operations) + 10 * operations
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
